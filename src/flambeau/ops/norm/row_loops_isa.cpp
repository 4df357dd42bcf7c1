#include "flambeau/ops/norm/row_loops.h"

#include <cmath>
#include <cstring>

#include "flambeau/kernels/math/vector_math_core.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

constexpr size_t kLanes = 16;

// Sixteen sums side by side, which the compiler keeps in vectors.
struct Lanes {
  float values[kLanes] = {};
  double total() const {
    float eight[8];
    for (size_t i = 0; i < 8; ++i) eight[i] = values[i] + values[i + 8];
    float four[4];
    for (size_t i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
    return static_cast<double>((four[0] + four[2]) + (four[1] + four[3]));
  }
};

// y = exp(x - most), and the sum of it.
double exponentials(const float* x, float* y, size_t count, float most) {
  double sum = 0;
  size_t i = 0;
  while (i + kLanes <= count) {
    const size_t end = i + 1024 < count ? i + 1024 : count;
    Lanes lanes;
    for (; i + kLanes <= end; i += kLanes) {
      for (size_t k = 0; k < kLanes; ++k) {
        const float e = kernels::exp_of(x[i + k] - most);
        y[i + k] = e;
        lanes.values[k] += e;
      }
    }
    sum += lanes.total();
  }
  for (; i < count; ++i) {
    y[i] = kernels::exp_of(x[i] - most);
    sum += static_cast<double>(y[i]);
  }
  return sum;
}

}  // namespace

float exp_sum_row(const float* x, size_t count, float most) {
  double sum = 0;
  size_t i = 0;
  while (i + kLanes <= count) {
    const size_t end = i + 1024 < count ? i + 1024 : count;
    Lanes lanes;
    for (; i + kLanes <= end; i += kLanes) {
      for (size_t k = 0; k < kLanes; ++k) lanes.values[k] += kernels::exp_of(x[i + k] - most);
    }
    sum += lanes.total();
  }
  for (; i < count; ++i) sum += static_cast<double>(kernels::exp_of(x[i] - most));
  return static_cast<float>(sum);
}

void softmax_row(const float* x, float* y, size_t count) {
  const float most = max_row(x, count);
  const double sum = exponentials(x, y, count, most);
  const auto scale = static_cast<float>(1.0 / sum);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] *= scale;
}

void log_softmax_row(const float* x, float* y, size_t count) {
  const float most = max_row(x, count);
  const auto log_sum = static_cast<float>(std::log(static_cast<double>(exp_sum_row(x, count, most))));
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = x[i] - most - log_sum;
}

// The product is rounded before the shift is added: where all elements are the same, nothing is left.
#if defined(__GNUC__) && !defined(__clang__)
#define FLAMBEAU_ROUND_PRODUCTS __attribute__((optimize("fp-contract=off")))
#else
#define FLAMBEAU_ROUND_PRODUCTS
#endif
FLAMBEAU_ROUND_PRODUCTS void move_row(const float* x, float scale, float shift, const float* weight,
                                      const float* bias, float* y, size_t count) {
#ifdef __clang__
#pragma clang fp contract(off)
#endif
  if (weight != nullptr && bias != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = (x[i] * scale + shift) * weight[i] + bias[i];
  } else if (weight != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = (x[i] * scale + shift) * weight[i];
  } else if (bias != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift + bias[i];
  } else {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift;
  }
}
#undef FLAMBEAU_ROUND_PRODUCTS

void layer_norm_row(const float* x, const float* weight, const float* bias, float* y, size_t count,
                    double eps, bool is_half, float* mean, float* rstd) {
  const Moments moments = moments_row(x, count);
  // In float, as PyTorch: where all elements are the same, the last bit is what is seen.
  const auto variance = static_cast<float>(count == 0 ? 0 : moments.squares / static_cast<double>(count));
  const float scale = 1.0F / std::sqrt(variance + static_cast<float>(eps));
  const auto middle = static_cast<float>(moments.mean);
  *mean = middle;
  *rstd = scale;
  if (is_half) {
    scale_row(x, scale, -middle * scale, y, count);
    if (weight != nullptr || bias != nullptr) move_row(y, 1, 0, weight, bias, y, count);
  } else {
    move_row(x, scale, -middle * scale, weight, bias, y, count);
  }
}

void rms_norm_row(const float* x, const float* weight, float* y, size_t count, double eps, float* rstd) {
  const double square = sum_squares_row(x, count) / static_cast<double>(count);
  const auto scale = static_cast<float>(1.0 / std::sqrt(square + eps));
  *rstd = scale;
  if (weight != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale * weight[i];
  } else {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale;
  }
}

void scale_row(const float* x, float scale, float shift, float* y, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift;
}

void scale_columns(const float* x, const float* scale, const float* shift, float* y, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale[i] + shift[i];
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
