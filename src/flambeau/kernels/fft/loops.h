// The loops of a transform, for each level of the instruction set. What they read and write in lanes is, for
// each number of a line, a vector of real parts and a vector of imaginary ones. They only go forward: going
// backward is the same with real and imaginary parts exchanged on the way in and out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"
#include "flambeau/kernels/fft/plan.h"

namespace flambeau::kernels::fft {

// Number i of a line is at data[i * step], its imaginary part `imaginary` behind it. A real line has none:
// they are 0 when read, and not written.
template <typename T>
struct Line {
  T* data;
  int64_t step;
  int64_t imaginary;
  bool is_swapped;
  bool is_real = false;
};

// As many lines as there are lanes. Those behind `count` are read, and not written.
template <typename T>
struct Lanes {
  Line<T> line;
  const int64_t* offsets;  // of each line's first number
  size_t count;
};

template <typename T>
struct Loops {
  size_t lanes;
  // All of some lines. `scratch` has room for three times the length in lanes.
  void (*transform)(const LanePlan<T>& plan, const Lanes<const T>& from, const Lanes<T>& to, T scale,
                    T* scratch);
  // The same between real lines of that length and the first half of their transforms: forward from real
  // lines, backward to them. The plan is of half the length where that is even, and `turns` are its. Room for
  // three times the length and 3 more.
  void (*transform_real)(const LanePlan<T>& plan, const MirrorPlan<T>* turns, size_t length, bool is_forward,
                         const Lanes<const T>& from, const Lanes<T>& to, T scale, T* scratch);
  // The block of that number of a line's columns, into a grid of as many numbers as the line has where the
  // columns are rounded up to whole vectors; and the rows of the grid, a block at a time, into the result.
  // `scratch` has room for three times the length of a column or row, in lanes.
  void (*columns)(const SplitPlan<T>& plan, size_t block, const Line<const T>& from, T* grid, T* scratch);
  void (*rows)(const SplitPlan<T>& plan, size_t block, const T* grid, const Line<T>& to, T scale, T* scratch);
  // Between a real line and its half as complex numbers: results k and half - k of numbers k and half - k,
  // for k in [begin, end), 1 <= k <= half / 2. Packed lines that are not the same.
  void (*mirror)(const MirrorPlan<T>& plan, size_t half, size_t begin, size_t end, bool is_forward, T scale,
                 const T* from, T* to);
};

template <typename T>
const Loops<T>& loops();

#define FLAMBEAU_DECLARE(level) \
  namespace level {             \
  Loops<float> float_loops();   \
  Loops<double> double_loops(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

}  // namespace flambeau::kernels::fft
