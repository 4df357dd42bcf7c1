// Sums are made in blocks: lanes of the element's own type over a few hundred elements, and doubles between
// the blocks, so that the error does not grow with the count. Strides are in bytes.
#include "flambeau/ops/reduce/fold_loops.h"

#include <cstdint>
#include <cstring>

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

typedef float Floats __attribute__((vector_size(64)));
typedef double Doubles __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
typedef int64_t Longs __attribute__((vector_size(64)));

template <typename V, typename T>
inline void load(V& v, const T* x) {
  std::memcpy(&v, x, sizeof(V));
}

template <typename V, typename T>
struct Block {
  static constexpr size_t kLanes = sizeof(V) / sizeof(T);
  static constexpr size_t kUnroll = 4;
  static constexpr size_t kStep = kLanes * kUnroll;
  static constexpr size_t kMost = kStep * 32;
};

// The lanes, halved until few are left.
inline double total(const Floats& v) {
  const auto eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return static_cast<double>((four[0] + four[2]) + (four[1] + four[3]));
}
inline double total(const Doubles& v) {
  const auto four = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// The last elements of a row, in the upper lanes; the others, which were counted before, are zero.
inline void load_last(Floats& v, const float* end, size_t count) {
  constexpr Ints kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  load(v, end - 16);
  v = kLane >= static_cast<int32_t>(16 - count) ? v : Floats{};
}
inline void load_last(Doubles& v, const double* end, size_t count) {
  constexpr Longs kLane = {0, 1, 2, 3, 4, 5, 6, 7};
  load(v, end - 8);
  v = kLane >= static_cast<int64_t>(8 - count) ? v : Doubles{};
}

template <typename V, typename T, bool kSquare>
double sum_blocks(const T* x, size_t count) {
  using B = Block<V, T>;
  double sum = 0;
  const size_t whole = count;
  while (count >= B::kStep) {
    const size_t block = count < B::kMost ? count / B::kStep * B::kStep : B::kMost;
    V a = {};
    V b = {};
    V c = {};
    V d = {};
    for (size_t i = 0; i < block; i += B::kStep) {
      V p, q, r, s;
      load(p, x + i);
      load(q, x + i + B::kLanes);
      load(r, x + i + 2 * B::kLanes);
      load(s, x + i + 3 * B::kLanes);
      if constexpr (kSquare) {
        a += p * p;
        b += q * q;
        c += r * r;
        d += s * s;
      } else {
        a += p;
        b += q;
        c += r;
        d += s;
      }
    }
    a += b;
    c += d;
    a += c;
    sum += total(a);
    x += block;
    count -= block;
  }
  if (whole < B::kLanes) {
    for (size_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(x[i]);
      sum += kSquare ? value * value : value;
    }
    return sum;
  }
  V a = {};
  size_t i = 0;
  for (; i + B::kLanes <= count; i += B::kLanes) {
    V p;
    load(p, x + i);
    if constexpr (kSquare) {
      a += p * p;
    } else {
      a += p;
    }
  }
  if (i < count) {
    V p;
    load_last(p, x + count, count - i);
    if constexpr (kSquare) {
      a += p * p;
    } else {
      a += p;
    }
  }
  return sum + total(a);
}

// The sum of x y.
template <typename V, typename T>
double dot_blocks(const T* x, const T* y, size_t count) {
  using B = Block<V, T>;
  double sum = 0;
  size_t i = 0;
  while (i + B::kStep <= count) {
    const size_t rest = (count - i) / B::kStep * B::kStep;
    const size_t end = i + (rest < B::kMost ? rest : B::kMost);
    V sums[B::kUnroll] = {};
    for (; i < end; i += B::kStep) {
      for (size_t k = 0; k < B::kUnroll; ++k) {
        V p, q;
        load(p, x + i + k * B::kLanes);
        load(q, y + i + k * B::kLanes);
        sums[k] += p * q;
      }
    }
    sum += total((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  for (; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

// Several products at once, so that none waits for the one before.
template <typename V, typename T>
T product_blocks(const T* x, size_t count) {
  using B = Block<V, T>;
  V product[B::kUnroll];
  for (V& lanes : product) lanes = V{} + T(1);
  size_t i = 0;
  for (; i + B::kStep <= count; i += B::kStep) {
    for (size_t k = 0; k < B::kUnroll; ++k) {
      V p;
      load(p, x + i + k * B::kLanes);
      product[k] *= p;
    }
  }
  for (; i + B::kLanes <= count; i += B::kLanes) {
    V p;
    load(p, x + i);
    product[0] *= p;
  }
  const V all = (product[0] * product[1]) * (product[2] * product[3]);
  T lanes[B::kLanes];
  std::memcpy(lanes, &all, sizeof(all));
  for (size_t half = B::kLanes / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) lanes[k] *= lanes[k + half];
  }
  for (; i < count; ++i) lanes[0] *= x[i];
  return lanes[0];
}

// Columns of one vector or four at a time, in registers, over up to 64 rows before they are added up as
// doubles.
template <typename V, typename T>
void sum_columns(double* sums, const T* x, int64_t stride, size_t rows, size_t columns) {
  using B = Block<V, T>;
  constexpr size_t kRows = 64;
  const auto row = [&](size_t r) {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(x) + static_cast<int64_t>(r) * stride);
  };
  for (size_t first = 0; first < rows; first += kRows) {
    const size_t last = first + kRows < rows ? first + kRows : rows;
    size_t c = 0;
    for (; c + B::kStep <= columns; c += B::kStep) {
      V sum[4] = {};
      for (size_t r = first; r < last; ++r) {
        const T* const from = row(r) + c;
        for (size_t k = 0; k < 4; ++k) {
          V p;
          load(p, from + k * B::kLanes);
          sum[k] += p;
        }
      }
      for (size_t k = 0; k < 4; ++k) {
        for (size_t i = 0; i < B::kLanes; ++i) sums[c + k * B::kLanes + i] += static_cast<double>(sum[k][i]);
      }
    }
    for (; c + B::kLanes <= columns; c += B::kLanes) {
      V sum = {};
      for (size_t r = first; r < last; ++r) {
        V p;
        load(p, row(r) + c);
        sum += p;
      }
      for (size_t i = 0; i < B::kLanes; ++i) sums[c + i] += static_cast<double>(sum[i]);
    }
    if (c == columns) continue;
    for (size_t r = first; r < last; ++r) {
      for (size_t i = c; i < columns; ++i) sums[i] += static_cast<double>(row(r)[i]);
    }
  }
}

// NaN wins: the magnitude's bits of a NaN are above those of infinity, so one maximum of bits finds it.
constexpr int32_t kInfinityBits = 0x7f800000;
inline void note_bits(Ints& seen, const Floats& x) {
  Ints bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= 0x7fffffff;
  seen = bits > seen ? bits : seen;
}
inline bool has_nan(const Ints& seen) {
  const Ints above = seen > kInfinityBits;
  const auto eight = __builtin_shufflevector(above, above, 0, 1, 2, 3, 4, 5, 6, 7) |
                     __builtin_shufflevector(above, above, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) | __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] | four[1] | four[2] | four[3]) != 0;
}

struct Larger {
  static constexpr float kStart = -__builtin_inff();
  template <typename V>
  static void take(V& most, const V& x) {
    most = x > most ? x : most;
  }
  static void take_one(float& most, float x) { most = x > most || x != x ? x : most; }
};
struct Smaller {
  static constexpr float kStart = __builtin_inff();
  template <typename V>
  static void take(V& least, const V& x) {
    least = x < least ? x : least;
  }
  static void take_one(float& least, float x) { least = x < least || x != x ? x : least; }
};

template <typename F>
float extreme_of(const Floats& v) {
  auto eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  const auto upper = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  F::take(eight, upper);
  auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3);
  const auto high = __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  F::take(four, high);
  float best = four[0];
  for (int i = 1; i < 4; ++i) F::take(best, four[i]);
  return best;
}

template <typename F>
float extreme(const float* x, size_t count) {
  using B = Block<Floats, float>;
  if (count < B::kLanes) {
    float best = F::kStart;
    for (size_t i = 0; i < count; ++i) F::take_one(best, x[i]);
    return best;
  }
  Floats lanes[4];
  Ints seen[4] = {};
  for (Floats& lane : lanes) lane = Floats{} + F::kStart;
  const auto take = [&](size_t k, size_t at) {
    Floats p;
    load(p, x + at);
    F::take(lanes[k], p);
    note_bits(seen[k], p);
  };
  size_t i = 0;
  for (; i + B::kStep <= count; i += B::kStep) {
    for (size_t k = 0; k < 4; ++k) take(k, i + k * B::kLanes);
  }
  for (; i + B::kLanes <= count; i += B::kLanes) take(0, i);
  // The last ones once more, together with those before them.
  take(1, count - B::kLanes);
  for (size_t k = 1; k < 4; ++k) {
    F::take(lanes[0], lanes[k]);
    seen[0] = seen[k] > seen[0] ? seen[k] : seen[0];
  }
  return has_nan(seen[0]) ? __builtin_nanf("") : extreme_of<F>(lanes[0]);
}

template <typename F>
void extreme_columns(float* best, const float* x, int64_t stride, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r) {
    const auto* const from =
        reinterpret_cast<const float*>(reinterpret_cast<const char*>(x) + static_cast<int64_t>(r) * stride);
#pragma GCC ivdep
    for (size_t c = 0; c < columns; ++c) F::take_one(best[c], from[c]);
  }
}

}  // namespace

void sum_each_row(double* sums, const float* x, int64_t stride, size_t rows, size_t count) {
  for (size_t r = 0; r < rows; ++r) {
    const auto* const row =
        reinterpret_cast<const float*>(reinterpret_cast<const char*>(x) + static_cast<int64_t>(r) * stride);
    sums[r] += sum_blocks<Floats, float, false>(row, count);
  }
}
double sum_row(const float* x, size_t count) { return sum_blocks<Floats, float, false>(x, count); }
double sum_row_double(const double* x, size_t count) { return sum_blocks<Doubles, double, false>(x, count); }
double sum_squares_row(const float* x, size_t count) { return sum_blocks<Floats, float, true>(x, count); }
double sum_squares_row_double(const double* x, size_t count) {
  return sum_blocks<Doubles, double, true>(x, count);
}
void sum_rows(double* sums, const float* x, int64_t stride, size_t rows, size_t columns) {
  sum_columns<Floats, float>(sums, x, stride, rows, columns);
}
void sum_rows_double(double* sums, const double* x, int64_t stride, size_t rows, size_t columns) {
  sum_columns<Doubles, double>(sums, x, stride, rows, columns);
}
float max_row(const float* x, size_t count) { return extreme<Larger>(x, count); }
float min_row(const float* x, size_t count) { return extreme<Smaller>(x, count); }
void max_rows(float* most, const float* x, int64_t stride, size_t rows, size_t columns) {
  extreme_columns<Larger>(most, x, stride, rows, columns);
}
void min_rows(float* least, const float* x, int64_t stride, size_t rows, size_t columns) {
  extreme_columns<Smaller>(least, x, stride, rows, columns);
}

double dot_row(const float* x, const float* y, size_t count) { return dot_blocks<Floats>(x, y, count); }
double dot_row_double(const double* x, const double* y, size_t count) {
  return dot_blocks<Doubles>(x, y, count);
}
float product_row(const float* x, size_t count) { return product_blocks<Floats>(x, count); }
double product_row_double(const double* x, size_t count) { return product_blocks<Doubles>(x, count); }

size_t find_row(const float* x, size_t count, float value) {
  constexpr size_t kBlock = 64;
  size_t i = 0;
  if (value != value) {
    for (; i < count && x[i] == x[i]; ++i) {
    }
    return i;
  }
  for (; i + kBlock <= count; i += kBlock) {
    int found = 0;
    for (size_t k = 0; k < kBlock; ++k) found |= x[i + k] == value ? 1 : 0;
    if (found != 0) break;
  }
  for (; i < count && x[i] != value; ++i) {
  }
  return i;
}

void distances(const float* x, const float* columns, size_t length, size_t count, float* to) {
  constexpr size_t kColumns = 64;
  constexpr size_t kPart = 64;  // of the length: sums of sums lose fewer digits
  for (size_t first = 0; first < count; first += kColumns) {
    const size_t some = count - first < kColumns ? count - first : kColumns;
    float sums[kColumns] = {};
    for (size_t begin = 0; begin < length; begin += kPart) {
      const size_t end = begin + kPart < length ? begin + kPart : length;
      float part[kColumns] = {};
      for (size_t i = begin; i < end; ++i) {
        const float* const row = columns + i * count + first;
        if (some == kColumns) {
          for (size_t c = 0; c < kColumns; ++c) part[c] += (x[i] - row[c]) * (x[i] - row[c]);
        } else {
          for (size_t c = 0; c < some; ++c) part[c] += (x[i] - row[c]) * (x[i] - row[c]);
        }
      }
      for (size_t c = 0; c < kColumns; ++c) sums[c] += part[c];
    }
    for (size_t c = 0; c < some; ++c) to[first + c] = __builtin_sqrtf(sums[c]);
  }
}

Moments moments_row(const float* x, size_t count) {
  Moments moments;
  if (count == 0) return moments;
  moments.count = static_cast<double>(count);
  moments.mean = sum_row(x, count) / moments.count;
  const auto mean = static_cast<float>(moments.mean);
  using B = Block<Floats, float>;
  double squares = 0;
  double rest = 0;  // the sum of the deviations from the rounded mean, to take out what rounding it cost
  size_t i = 0;
  while (i + B::kLanes <= count) {
    const size_t end = i + 1024 < count ? i + 1024 : count;
    Floats a = {};
    Floats b = {};
    for (; i + B::kLanes <= end; i += B::kLanes) {
      Floats p;
      load(p, x + i);
      p -= mean;
      a += p * p;
      b += p;
    }
    squares += total(a);
    rest += total(b);
  }
  for (; i < count; ++i) {
    const double d = static_cast<double>(x[i]) - static_cast<double>(mean);
    squares += d * d;
    rest += d;
  }
  moments.squares = squares - rest * rest / moments.count;
  if (moments.squares < 0) moments.squares = 0;
  return moments;
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
