// Rows of normalization: softmax, layer norm, and scaling by channel. Packed, compiled for every level of the
// instruction set. y may be x.
#pragma once

#include <cstddef>

#include "flambeau/base/isa.h"

namespace flambeau::ops {

#define FLAMBEAU_DECLARE_ROW_LOOPS(isa)                                                                    \
  namespace isa {                                                                                          \
  void softmax_row(const float* x, float* y, size_t count);                                                \
  void log_softmax_row(const float* x, float* y, size_t count);                                            \
  /* The largest, and the sum of the exponentials of what lies below it. */                                \
  float exp_sum_row(const float* x, size_t count, float most);                                             \
  /* (x - mean) / sqrt(variance + eps) * weight + bias; null: 1 and 0. What is left where all elements are \
     the same is PyTorch's: nothing of float32, the rounding of the mean's product of half types. */       \
  void layer_norm_row(const float* x, const float* weight, const float* bias, float* y, size_t count,      \
                      double eps, bool is_half, float* mean, float* rstd);                                 \
  /* x / sqrt(mean square + eps) * weight */                                                               \
  void rms_norm_row(const float* x, const float* weight, float* y, size_t count, double eps, float* rstd); \
  void scale_row(const float* x, float scale, float shift, float* y, size_t count);                        \
  void scale_columns(const float* x, const float* scale, const float* shift, float* y, size_t count);      \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_ROW_LOOPS)
#undef FLAMBEAU_DECLARE_ROW_LOOPS

}  // namespace flambeau::ops
