// The folds that models spend their time in, over packed rows: sums, products, extremes and moments.
// Each is compiled for every level of the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

// Mean and sum of squared deviations of `count` elements so far.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;
};

#define FLAMBEAU_DECLARE_FOLD_LOOPS(isa)                                                            \
  namespace isa {                                                                                   \
  double sum_row(const float* x, size_t count);                                                     \
  double sum_row_double(const double* x, size_t count);                                             \
  double sum_squares_row(const float* x, size_t count);                                             \
  double sum_squares_row_double(const double* x, size_t count);                                     \
  double dot_row(const float* x, const float* y, size_t count);                                     \
  double dot_row_double(const double* x, const double* y, size_t count);                            \
  float product_row(const float* x, size_t count);                                                  \
  double product_row_double(const double* x, size_t count);                                         \
  void sum_each_row(double* sums, const float* x, int64_t stride, size_t rows, size_t count);       \
  void sum_rows(double* sums, const float* x, int64_t stride, size_t rows, size_t columns);         \
  void sum_rows_double(double* sums, const double* x, int64_t stride, size_t rows, size_t columns); \
  float max_row(const float* x, size_t count);                                                      \
  float min_row(const float* x, size_t count);                                                      \
  void max_rows(float* most, const float* x, int64_t stride, size_t rows, size_t columns);          \
  void min_rows(float* least, const float* x, int64_t stride, size_t rows, size_t columns);         \
  /* Where the value is first; for NaN, the first NaN. `count` where it is not. */                  \
  size_t find_row(const float* x, size_t count, float value);                                       \
  Moments moments_row(const float* x, size_t count);                                                \
  /* to[c] is the distance of x from column c of a matrix of `length` rows. */                      \
  void distances(const float* x, const float* columns, size_t length, size_t count, float* to);     \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_FOLD_LOOPS)
#undef FLAMBEAU_DECLARE_FOLD_LOOPS

}  // namespace flambeau::ops
