// Rows of one channel: their mean and squares, and scaling by numbers that are the channel's.
#pragma once

#include "flambeau/ops/norm/row_loops.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops {

inline Moments moments_of(const float* x, size_t count) {
  static const auto row = FLAMBEAU_PICK(moments_row);
  return row(x, count);
}
inline Moments moments_of(const double* x, size_t count) {
  Moments moments;
  moments.count = static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) moments.mean += x[i];
  moments.mean /= moments.count;
  for (size_t i = 0; i < count; ++i) moments.squares += (x[i] - moments.mean) * (x[i] - moments.mean);
  return moments;
}

inline void scale_one(const float* x, float scale, float shift, float* y, size_t count) {
  static const auto row = FLAMBEAU_PICK(scale_row);
  row(x, scale, shift, y, count);
}
inline void scale_one(const double* x, double scale, double shift, double* y, size_t count) {
  for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift;
}

}  // namespace flambeau::ops
