// What a transform of a length needs to know: how the length is cut, and its roots of unity. Plans are
// constants that threads share; the latest ones are kept.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace flambeau::kernels::fft {

// Beyond it a prime is not a radix.
constexpr size_t kMostRadix = 61;
// A line up to this length is not cut into rows and columns.
constexpr size_t kShortLine = 64;

// Transforms of one length in lanes, pass by pass (Stockham's order: no pass reverses bits).
template <typename T>
struct LanePlan {
  struct Pass {
    size_t radix;
    size_t count;     // butterflies with different turns
    size_t stride;    // and how often each of them comes
    size_t turns;     // where they begin in `numbers`, radix - 1 for each butterfly
    size_t radicals;  // where the roots of the radix begin, for those without a formula
  };
  size_t length = 1;
  std::vector<Pass> passes;
  std::vector<T> numbers;  // real and imaginary parts in turn
};

// A line as a matrix of `columns.length` by `rows.length`: its columns are transformed, turned, transposed,
// and transformed again.
template <typename T>
struct SplitPlan {
  LanePlan<T> columns;
  LanePlan<T> rows;
  std::vector<T> lane_turns;  // root^(lane * k), lanes of real parts and of imaginary ones, for each k
  // root^e is coarse[e >> shift] * fine[e & mask].
  unsigned shift = 0;
  std::vector<std::complex<double>> coarse;
  std::vector<std::complex<double>> fine;

  size_t length() const { return columns.length * rows.length; }
};

// root^k, k up to half of an even length / 2: coarse[k / kFine] * fine[k % kFine], for real lines.
template <typename T>
struct MirrorPlan {
  static constexpr size_t kFine = 64;
  static constexpr size_t kMostLanes = 16;
  std::vector<std::complex<T>> coarse;
  std::vector<T> fine_real;  // and kMostLanes more
  std::vector<T> fine_imaginary;
};

template <typename T>
struct LinePlan;

// A line as a convolution.
template <typename T>
struct ChirpPlan {
  std::shared_ptr<const LinePlan<T>> inner;
  std::vector<std::complex<T>> chirp;
  std::vector<std::complex<T>> spectrum;
};

// One of the three is there.
template <typename T>
struct LinePlan {
  size_t length = 1;
  std::unique_ptr<LanePlan<T>> lane;  // up to kShortLine
  std::unique_ptr<SplitPlan<T>> split;
  std::unique_ptr<ChirpPlan<T>> chirp;
};

// Has it no prime factor beyond kMostRadix?
bool is_smooth(size_t length);

// `lanes` is how many numbers a vector holds. Throw Error(kLimit) where there is not enough memory, and what
// the work's scope throws.
template <typename T>
std::shared_ptr<const LinePlan<T>> line_plan(size_t length, size_t lanes);
template <typename T>
std::shared_ptr<const LanePlan<T>> lane_plan(size_t length);  // of a smooth one
template <typename T>
std::shared_ptr<const MirrorPlan<T>> mirror_plan(size_t length);

}  // namespace flambeau::kernels::fft
