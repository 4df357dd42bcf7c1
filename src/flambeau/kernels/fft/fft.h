// Discrete Fourier transforms along one dimension: of any length, of float and double, as they lie in memory.
//
// A transform works on as many lines at once as a vector has numbers, each line a lane, so that no pass has
// to shuffle; a single long line is cut into the columns and rows of a matrix, which are lines of that sort
// again. Lengths of primes up to 61 take O(n log n) that way; others are a convolution with a chirp
// (Bluestein), whose length is a good one. Errors grow with the root of log n, as those of other good
// libraries do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::kernels {

struct FftLines {
  enum class Kind : uint8_t {
    kComplex,
    kRealToComplex,  // the first length / 2 + 1 numbers of the result; forward
    kComplexToReal,  // of such numbers; backward
  };
  // One of the other dimensions; strides count elements.
  struct Axis {
    size_t size;
    int64_t from;
    int64_t to;
  };
  Kind kind = Kind::kComplex;
  bool is_forward = true;
  DType part = DType::kFloat32;  // of a complex number: float32 or float64
  size_t length = 0;             // of the signal; at least 1
  double scale = 1;              // that every result is multiplied with
  const void* from = nullptr;
  int64_t from_step = 1;
  void* to = nullptr;  // the same as `from` with the same strides, or apart from it
  int64_t to_step = 1;
  std::vector<Axis> axes = {};
};

// Transforms all lines. Threads share them, or the parts of a long one; asks the work's scope every few
// milliseconds whatever the length.
void run_fft(ThreadPool& pool, const FftLines& lines);

}  // namespace flambeau::kernels
