#include "flambeau/ops/quantized/integer_rows.h"

#include <cmath>
#include <limits>

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

template <typename Q>
void quantize(const float* x, float inverse, float zero_point, Q* q, size_t count) {
  constexpr auto kLeast = static_cast<float>(std::numeric_limits<Q>::min());
  constexpr auto kMost = static_cast<float>(std::numeric_limits<Q>::max());
  for (size_t i = 0; i < count; ++i) {
    float value = std::nearbyint(x[i] * inverse + zero_point);
    value = value < kMost ? value : kMost;
    value = value > kLeast ? value : kLeast;
    q[i] = static_cast<Q>(static_cast<int32_t>(value));
  }
}

template <typename Q>
void dequantize(const Q* q, float scale, int32_t zero_point, float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] = scale * static_cast<float>(q[i] - zero_point);
}

// A few rows of each side at once, so that what is loaded is used several times.
template <size_t kRows, size_t kColumns>
void tile(const int16_t* left, const int16_t* right, size_t depth, size_t step, int32_t* sums, size_t columns,
          bool adds) {
  int32_t total[kRows][kColumns] = {};
  for (size_t r = 0; r < kRows; ++r) {
    const int16_t* const a = left + r * step;
    if constexpr (kColumns == 4) {
      const int16_t* const b0 = right;
      const int16_t* const b1 = right + step;
      const int16_t* const b2 = right + 2 * step;
      const int16_t* const b3 = right + 3 * step;
      int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (size_t k = 0; k < depth; ++k) {
        s0 += int32_t{a[k]} * b0[k];
        s1 += int32_t{a[k]} * b1[k];
        s2 += int32_t{a[k]} * b2[k];
        s3 += int32_t{a[k]} * b3[k];
      }
      total[r][0] = s0, total[r][1] = s1, total[r][2] = s2, total[r][3] = s3;
    } else {
      for (size_t c = 0; c < kColumns; ++c) {
        const int16_t* const b = right + c * step;
        int32_t sum = 0;
        for (size_t k = 0; k < depth; ++k) sum += int32_t{a[k]} * b[k];
        total[r][c] = sum;
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kColumns; ++c) {
      int32_t& sum = sums[r * columns + c];
      const uint32_t before = adds ? static_cast<uint32_t>(sum) : 0;
      sum = static_cast<int32_t>(before + static_cast<uint32_t>(total[r][c]));
    }
  }
}

}  // namespace

void quantize_signed(const float* x, float inverse, float zero_point, int8_t* q, size_t count) {
  quantize(x, inverse, zero_point, q, count);
}
void quantize_unsigned(const float* x, float inverse, float zero_point, uint8_t* q, size_t count) {
  quantize(x, inverse, zero_point, q, count);
}
void dequantize_signed(const int8_t* q, float scale, int32_t zero_point, float* x, size_t count) {
  dequantize(q, scale, zero_point, x, count);
}
void dequantize_unsigned(const uint8_t* q, float scale, int32_t zero_point, float* x, size_t count) {
  dequantize(q, scale, zero_point, x, count);
}

void integer_product(const int16_t* left, size_t rows, const int16_t* right, size_t columns, size_t depth,
                     size_t step, int32_t* sums, bool adds) {
  for (size_t c = 0; c < columns; c += 4) {
    for (size_t r = 0; r < rows; ++r) {
      const int16_t* const a = left + r * step;
      const int16_t* const b = right + c * step;
      int32_t* const out = sums + r * columns + c;
      if (c + 4 <= columns) {
        tile<1, 4>(a, b, depth, step, out, columns, adds);
      } else {
        for (size_t last = 0; c + last < columns; ++last)
          tile<1, 1>(a, b + last * step, depth, step, out + last, columns, adds);
      }
    }
  }
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
