// The loops of sum.h. A lane is a place in a group of four vectors of 64 bytes; each lane adds every 4 * 64th
// byte of the block, and the lanes are added pairwise, so that every instruction set gives the same bits.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "flambeau/kernels/sum_loops.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

// Integers are added as unsigned ones: they wrap around.
template <typename T>
using Add = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

template <typename T>
struct Vector {
  using Type [[gnu::vector_size(64), gnu::may_alias]] = T;
};
template <typename T>
using Vec = typename Vector<T>::Type;

template <typename T>
constexpr size_t kWidth = 64 / sizeof(T);
template <typename T>
constexpr size_t kLanes = 4 * kWidth<T>;

template <typename T>
inline void load(const T* x, Vec<T>& v) {
  std::memcpy(&v, x, sizeof v);
}

// Vectors go by reference: by value, their place would depend on the instruction set.
// Reduces full groups of lanes with `step`; lanes[] has the results, and what did not fill a group.
template <typename T, typename Step>
inline size_t reduce_lanes(const T* x, size_t n, T start, T* lanes, Step step) {
  Vec<T> a = Vec<T>{} + start;
  Vec<T> b = a;
  Vec<T> c = a;
  Vec<T> d = a;
  size_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    Vec<T> v;
    load<T>(x + i, v);
    step(a, v);
    load<T>(x + i + kWidth<T>, v);
    step(b, v);
    load<T>(x + i + 2 * kWidth<T>, v);
    step(c, v);
    load<T>(x + i + 3 * kWidth<T>, v);
    step(d, v);
  }
  std::memcpy(lanes, &a, 64);
  std::memcpy(lanes + kWidth<T>, &b, 64);
  std::memcpy(lanes + 2 * kWidth<T>, &c, 64);
  std::memcpy(lanes + 3 * kWidth<T>, &d, 64);
  return i;
}

// Adds the upper half of the lanes to the lower, until `left` are left.
template <typename T>
inline void fold(T* lanes, size_t left) {
  for (size_t half = kLanes<T> / 2; half >= left; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[half + i];
  }
}

template <typename T>
inline bool is_nan(T x) {
  return x != x;
}

struct More {
  template <typename T>
  bool operator()(T x, T best) const {
    return x > best;
  }
};
struct Less {
  template <typename T>
  bool operator()(T x, T best) const {
    return x < best;
  }
};

template <typename T, typename Better>
T extreme(const T* x, size_t n) {
  const auto step = [](auto& best, const auto& v) {
    if constexpr (std::is_same_v<Better, More>) {
      best = ((v > best) | (v != v)) ? v : best;
    } else {
      best = ((v < best) | (v != v)) ? v : best;
    }
  };
  T lanes[kLanes<T>];
  T best = x[0];
  size_t i = 0;
  if (n >= kLanes<T>) {
    i = reduce_lanes<T>(x, n, best, lanes, step);
    for (const T lane : lanes) best = Better()(lane, best) || is_nan(lane) ? lane : best;
  }
  for (; i < n; ++i) best = Better()(x[i], best) || is_nan(x[i]) ? x[i] : best;
  return best;
}

constexpr size_t kTile = 256;  // columns taken at a time: their sums stay in the first-level cache

template <typename T, typename Better>
void extreme_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices) {
  for (size_t begin = 0; begin < columns; begin += kTile) {
    const size_t width = std::min(kTile, columns - begin);
    T best[kTile];
    int64_t place[kTile] = {};
    std::memcpy(best, x + begin, width * sizeof(T));
    for (size_t row = 1; row < rows; ++row) {
      const T* const from = x + static_cast<ptrdiff_t>(row) * stride + begin;
      for (size_t i = 0; i < width; ++i) {
        // A first NaN wins over all, later ones do not. As integers: the loop has no branches then.
        const int wins = static_cast<int>(Better()(from[i], best[i])) | static_cast<int>(is_nan(from[i]));
        const bool takes = (wins & static_cast<int>(!is_nan(best[i]))) != 0;
        best[i] = takes ? from[i] : best[i];
        place[i] = takes ? static_cast<int64_t>(row) : place[i];
      }
    }
    std::memcpy(out + begin, best, width * sizeof(T));
    if (indices != nullptr) std::memcpy(indices + begin, place, width * sizeof(int64_t));
  }
}

}  // namespace

template <typename T>
T block_sum(const T* x, size_t n) {
  using A = Add<T>;
  A lanes[kLanes<A>];
  const auto* const from = reinterpret_cast<const A*>(x);
  if (n < kWidth<A>) {
    A total = 0;
    for (size_t i = 0; i < n; ++i) total += from[i];
    return static_cast<T>(total);
  }
  const size_t done = reduce_lanes<A>(from, n, 0, lanes, [](auto& a, const auto& v) { a += v; });
  for (size_t i = done; i < n; ++i) lanes[i - done] += from[i];
  fold(lanes, 1);
  return static_cast<T>(lanes[0]);
}

template <typename T>
void block_sum_pairs(const T* x, size_t n, T* even, T* odd) {
  T lanes[kLanes<T>];
  const size_t done = reduce_lanes<T>(x, n, 0, lanes, [](auto& a, const auto& v) { a += v; });
  for (size_t i = done; i < n; ++i) lanes[i - done] += x[i];
  fold(lanes, 2);
  *even = lanes[0];
  *odd = lanes[1];
}

template <typename T>
T block_sum_squares(const T* x, size_t n, T center) {
  using A = Add<T>;
  A lanes[kLanes<A>];
  const auto* const from = reinterpret_cast<const A*>(x);
  const A middle = static_cast<A>(center);
  const size_t done = reduce_lanes<A>(from, n, 0, lanes, [=](auto& a, const auto& v) {
    const auto difference = v - middle;
    a += difference * difference;
  });
  for (size_t i = done; i < n; ++i) lanes[i - done] += (from[i] - middle) * (from[i] - middle);
  fold(lanes, 1);
  return static_cast<T>(lanes[0]);
}

template <typename T>
T product(const T* x, size_t n) {
  using A = Add<T>;
  A lanes[kLanes<A>];
  const auto* const from = reinterpret_cast<const A*>(x);
  const size_t done = reduce_lanes<A>(from, n, 1, lanes, [](auto& a, const auto& v) { a *= v; });
  A result = 1;
  for (const A lane : lanes) result *= lane;
  for (size_t i = done; i < n; ++i) result *= from[i];
  return static_cast<T>(result);
}

template <typename T>
T maximum(const T* x, size_t n) {
  return extreme<T, More>(x, n);
}
template <typename T>
T minimum(const T* x, size_t n) {
  return extreme<T, Less>(x, n);
}

template <typename T>
size_t find(const T* x, size_t n, T value) {
  const bool nan = is_nan(value);
  for (size_t begin = 0; begin < n; begin += kTile) {
    const size_t end = std::min(n, begin + kTile);
    int found = 0;
    if (nan) {
      for (size_t i = begin; i < end; ++i) found |= is_nan(x[i]) ? 1 : 0;
    } else {
      for (size_t i = begin; i < end; ++i) found |= x[i] == value ? 1 : 0;
    }
    if (found == 0) continue;
    size_t i = begin;
    while (nan ? !is_nan(x[i]) : x[i] != value) ++i;
    return i;
  }
  return n;
}

template <typename T>
bool any(const T* x, size_t n) {
  for (size_t begin = 0; begin < n; begin += kTile) {
    const size_t end = std::min(n, begin + kTile);
    int found = 0;
    for (size_t i = begin; i < end; ++i) found |= x[i] != T(0) ? 1 : 0;
    if (found != 0) return true;
  }
  return false;
}

template <typename T>
bool all(const T* x, size_t n) {
  return find(x, n, T(0)) == n;
}

// In the manner of PyTorch's cascade: rows are added in groups, groups in groups of groups.
template <typename T>
void sum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out) {
  using A = Add<T>;
  constexpr size_t kColumns = 1024;
  constexpr size_t kLevels = 8;
  constexpr size_t kGroup = 16;  // rows, and groups of each level
  for (size_t begin = 0; begin < columns; begin += kColumns) {
    const size_t width = std::min(kColumns, columns - begin);
    A levels[kLevels][kColumns];
    A* const to = levels[0];
    std::fill_n(to, width, A(0));
    size_t used = 1;
    for (size_t row = 0; row < rows;) {
      const A* const a = reinterpret_cast<const A*>(x) + static_cast<ptrdiff_t>(row) * stride + begin;
      if (row + 4 <= rows) {
        const A* const b = a + stride;
        const A* const c = b + stride;
        const A* const d = c + stride;
#pragma GCC ivdep
        for (size_t i = 0; i < width; ++i) to[i] += (a[i] + b[i]) + (c[i] + d[i]);
        row += 4;
      } else {
#pragma GCC ivdep
        for (size_t i = 0; i < width; ++i) to[i] += a[i];
        row += 1;
      }
      size_t groups = row;
      for (size_t level = 0; groups % kGroup == 0 && level + 1 < kLevels; ++level, groups /= kGroup) {
        if (level + 1 == used) std::fill_n(levels[used++], width, A(0));
        for (size_t i = 0; i < width; ++i) {
          levels[level + 1][i] += levels[level][i];
          levels[level][i] = 0;
        }
      }
    }
    for (size_t level = 1; level < used; ++level) {
      for (size_t i = 0; i < width; ++i) to[i] += levels[level][i];
    }
    std::memcpy(out + begin, to, width * sizeof(T));
  }
}

template <typename T>
void product_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out) {
  using A = Add<T>;
  for (size_t begin = 0; begin < columns; begin += kTile) {
    const size_t width = std::min(kTile, columns - begin);
    A products[kTile];
    std::fill_n(products, kTile, A(1));
    for (size_t row = 0; row < rows; ++row) {
      const A* const from = reinterpret_cast<const A*>(x) + static_cast<ptrdiff_t>(row) * stride + begin;
      for (size_t i = 0; i < width; ++i) products[i] *= from[i];
    }
    std::memcpy(out + begin, products, width * sizeof(T));
  }
}

template <typename T>
void maximum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices) {
  extreme_rows<T, More>(x, rows, columns, stride, out, indices);
}
template <typename T>
void minimum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices) {
  extreme_rows<T, Less>(x, rows, columns, stride, out, indices);
}

#define FLAMBEAU_INSTANTIATE(T)                                                     \
  template T block_sum<T>(const T*, size_t);                                        \
  template T block_sum_squares<T>(const T*, size_t, T);                             \
  template T product<T>(const T*, size_t);                                          \
  template T maximum<T>(const T*, size_t);                                          \
  template T minimum<T>(const T*, size_t);                                          \
  template size_t find<T>(const T*, size_t, T);                                     \
  template bool any<T>(const T*, size_t);                                           \
  template bool all<T>(const T*, size_t);                                           \
  template void sum_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*);               \
  template void product_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*);           \
  template void maximum_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*, int64_t*); \
  template void minimum_rows<T>(const T*, size_t, size_t, ptrdiff_t, T*, int64_t*);
FLAMBEAU_INSTANTIATE(float)
FLAMBEAU_INSTANTIATE(double)
FLAMBEAU_INSTANTIATE(int64_t)
template void block_sum_pairs<float>(const float*, size_t, float*, float*);
template void block_sum_pairs<double>(const double*, size_t, double*, double*);

}  // namespace flambeau::kernels::FLAMBEAU_ISA
