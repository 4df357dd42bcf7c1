#include "flambeau/kernels/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/stoppable.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau::kernels {
namespace {

template <typename T>
using Key = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// An unsigned integer that is ordered as the values are, and equal where they are.
template <typename T>
Key<T> key_of(T value, bool descending) {
  using K = Key<T>;
  constexpr K kTop = K{1} << (8 * sizeof(K) - 1);
  K key = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) {
      key = ~K{0};
    } else {
      key = std::bit_cast<K>(value == 0 ? T{0} : value);
      key = (key & kTop) != 0 ? ~key : key | kTop;
    }
  } else if constexpr (std::is_signed_v<T>) {
    key = static_cast<K>(value) ^ kTop;
  } else {
    key = value;
  }
  return descending ? ~key : key;
}

// Comparing keys gives what comparing values would; so the standard algorithms take the same steps as over
// the values, and equal elements end where PyTorch's do.
template <typename K, typename Index>
struct Keyed {
  K key;
  Index index;
  bool operator<(const Keyed& other) const { return key < other.key; }
};

// Calls body(i) for all below n, and can be stopped now and then.
template <typename Body>
void for_each_below(size_t n, Body&& body) {
  constexpr size_t kPiece = size_t{1} << 18;
  for (size_t begin = 0; begin < n; begin += kPiece) {
    poll_work();
    const size_t end = std::min(n, begin + kPiece);
    for (size_t i = begin; i < end; ++i) body(i);
  }
}

template <typename Index, typename T>
ScratchVector<Keyed<Key<T>, Index>> keyed(const T* row, size_t n, bool descending) {
  ScratchVector<Keyed<Key<T>, Index>> elements(n);
  for_each_below(n, [&](size_t i) { elements[i] = {key_of(row[i], descending), static_cast<Index>(i)}; });
  return elements;
}

template <typename Elements>
void store_indices(const Elements& elements, size_t n, int64_t* indices) {
  for (size_t i = 0; i < n; ++i) indices[i] = static_cast<int64_t>(elements[i].index);
}

// From the lowest byte to the highest; a byte that all keys share costs no pass.
template <typename Elements>
void radix_sort(Elements& from) {
  constexpr size_t kBytes = sizeof(from[0].key);
  const size_t n = from.size();
  Elements to(n);
  std::array<std::array<size_t, 256>, kBytes> counts{};
  for_each_below(n, [&](size_t i) {
    for (size_t byte = 0; byte < kBytes; ++byte) ++counts[byte][(from[i].key >> (8 * byte)) & 255];
  });
  for (size_t byte = 0; byte < kBytes; ++byte) {
    auto& count = counts[byte];
    if (count[(from[0].key >> (8 * byte)) & 255] == n) continue;
    size_t place = 0;
    for (size_t& entry : count) place += std::exchange(entry, place);
    for_each_below(n, [&](size_t i) { to[count[(from[i].key >> (8 * byte)) & 255]++] = from[i]; });
    from.swap(to);
  }
}

constexpr size_t kRadixFrom = 256;

template <typename Index, typename T>
void sort_with(const T* row, size_t n, bool descending, bool stable, int64_t* indices) {
  auto elements = keyed<Index>(row, n, descending);
  if (n < kRadixFrom) {
    if (stable) {
      std::sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) {
        return a.key != b.key ? a.key < b.key : a.index < b.index;
      });
    } else {
      std::sort(elements.begin(), elements.end());
    }
  } else if (stable) {
    radix_sort(elements);
  } else {
    auto sorted = elements;
    radix_sort(sorted);
    const auto equal = [](const auto& a, const auto& b) { return a.key == b.key; };
    if (std::adjacent_find(sorted.begin(), sorted.end(), equal) == sorted.end()) {
      elements.swap(sorted);  // without equal elements there is only one order
    } else {
      WorkPoller poll;
      std::sort(elements.begin(), elements.end(), stoppable(poll, std::less<>()));
    }
  }
  store_indices(elements, n, indices);
}

// The steps of std::partial_sort, which PyTorch takes for small k, without a copy of the row: a heap of the
// best k, whose worst gives way to what is better. pop_heap's last place is where the newcomer waits.
template <typename Index, typename T>
void top_few_with(const T* row, size_t n, size_t k, bool largest, int64_t* indices) {
  auto heap = keyed<Index>(row, k, largest);
  heap.emplace_back();
  const auto last = heap.end() - 1;
  std::make_heap(heap.begin(), last);
  auto worst = heap[0].key;
  for (size_t i = k; i < n; ++i) {
    const auto key = key_of(row[i], largest);
    if (key >= worst) continue;
    *last = {key, static_cast<Index>(i)};
    std::pop_heap(heap.begin(), heap.end());
    worst = heap[0].key;
  }
  std::sort_heap(heap.begin(), last);
  store_indices(heap, k, indices);
}

template <typename Index, typename T>
void top_k_with(const T* row, size_t n, size_t k, bool largest, bool sorted, int64_t* indices) {
  if (k * 64 <= n) return top_few_with<Index>(row, n, k, largest, indices);
  auto elements = keyed<Index>(row, n, largest);
  const auto begin = elements.begin();
  const auto last = begin + static_cast<ptrdiff_t>(k - 1);
  WorkPoller poll;
  std::nth_element(begin, last, elements.end(), stoppable(poll, std::less<>()));
  if (sorted) std::sort(begin, last, stoppable(poll, std::less<>()));
  store_indices(elements, k, indices);
}

bool few(size_t n) { return n <= std::numeric_limits<uint32_t>::max(); }

}  // namespace

template <typename T>
void sort_row(const T* row, size_t n, bool descending, bool stable, int64_t* indices) {
  if (few(n)) {
    sort_with<uint32_t>(row, n, descending, stable, indices);
  } else {
    sort_with<uint64_t>(row, n, descending, stable, indices);
  }
}

template <typename T>
void top_k_row(const T* row, size_t n, size_t k, bool largest, bool sorted, int64_t* indices) {
  if (k == 0) return;
  if (few(n)) {
    top_k_with<uint32_t>(row, n, k, largest, sorted, indices);
  } else {
    top_k_with<uint64_t>(row, n, k, largest, sorted, indices);
  }
}

// Quickselect with the median of three, in the textbook's steps, which PyTorch follows: which of several
// equal elements is found depends on every swap.
template <typename T>
int64_t kth_row(const T* row, size_t n, size_t k) {
  auto elements = keyed<uint64_t>(row, n, false);
  const auto wanted = static_cast<ptrdiff_t>(k - 1);
  ptrdiff_t left = 0;
  auto right = static_cast<ptrdiff_t>(n) - 1;
  const auto swap = [&](ptrdiff_t i, ptrdiff_t j) { std::swap(elements[i], elements[j]); };
  while (left < right) {
    if (right == left + 1) {
      if (elements[right] < elements[left]) swap(left, right);
      break;
    }
    swap(left + (right - left) / 2, left + 1);
    if (elements[right] < elements[left + 1]) swap(left + 1, right);
    if (elements[right] < elements[left]) swap(left, right);
    if (elements[left] < elements[left + 1]) swap(left, left + 1);
    ptrdiff_t i = left + 1;
    ptrdiff_t j = right;
    const auto pivot = elements[left];
    for (;;) {
      do ++i;
      while (elements[i] < pivot);
      do --j;
      while (pivot < elements[j]);
      if (j < i) break;
      swap(i, j);
    }
    swap(left, j);
    if (j <= wanted) left = i;
    if (j >= wanted) right = j - 1;
  }
  return static_cast<int64_t>(elements[wanted].index);
}

#define FLAMBEAU_INSTANTIATE(T)                                               \
  template void sort_row<T>(const T*, size_t, bool, bool, int64_t*);          \
  template void top_k_row<T>(const T*, size_t, size_t, bool, bool, int64_t*); \
  template int64_t kth_row<T>(const T*, size_t, size_t);
FLAMBEAU_INSTANTIATE(float)
FLAMBEAU_INSTANTIATE(double)
FLAMBEAU_INSTANTIATE(int64_t)
FLAMBEAU_INSTANTIATE(uint64_t)

namespace {

constexpr size_t kGrain = 32768;  // elements a thread should have at least

// Loads each row, asks `order` for the positions of its result, and gathers the values there.
template <typename T, typename Order>
void each_row(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, size_t results,
              void* values, int64_t* indices, Order order) {
  const LoadRow load = load_row(dtype);
  const size_t size = dtype_size(dtype);
  const bool as_it_is = size == sizeof(T);  // no smaller type is stored in as many bytes
  const size_t grain = std::max<size_t>(1, kGrain / std::max<size_t>(1, n));
  pool.for_each_range(rows, grain, [&](size_t begin, size_t end) {
    std::vector<T> wide(as_it_is ? 0 : n);
    for (size_t row = begin; row < end; ++row) {
      const uint8_t* const from = static_cast<const uint8_t*>(in) + row * n * size;
      uint8_t* const to = static_cast<uint8_t*>(values) + row * results * size;
      int64_t* const places = indices + row * results;
      if (as_it_is) {
        order(reinterpret_cast<const T*>(from), places);
      } else {
        load(from, static_cast<ptrdiff_t>(size), n, wide.data());
        order(static_cast<const T*>(wide.data()), places);
      }
      for (size_t i = 0; i < results; ++i) {
        std::memcpy(to + i * size, from + static_cast<size_t>(places[i]) * size, size);
      }
    }
  });
}

template <typename Order>
void any_type(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, size_t results,
              void* values, int64_t* indices, Order order) {
  if (dtype_info(dtype).is_complex || !is_plain(dtype)) {
    throw Error(ErrorCode::kUnsupported, fmt::format("numbers of type {} have no order", dtype_name(dtype)));
  }
  switch (compute_type(dtype)) {
    case Compute::kFloat:
      return each_row<float>(pool, dtype, in, rows, n, results, values, indices, order);
    case Compute::kDouble:
      return each_row<double>(pool, dtype, in, rows, n, results, values, indices, order);
    case Compute::kUInt64:
      return each_row<uint64_t>(pool, dtype, in, rows, n, results, values, indices, order);
    default:
      return each_row<int64_t>(pool, dtype, in, rows, n, results, values, indices, order);
  }
}

}  // namespace

void sort_rows(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, bool descending,
               bool stable, void* values, int64_t* indices) {
  any_type(pool, dtype, in, rows, n, n, values, indices,
           [=](const auto* row, int64_t* places) { sort_row(row, n, descending, stable, places); });
}

void top_k_rows(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, size_t k, bool largest,
                bool sorted, void* values, int64_t* indices) {
  any_type(pool, dtype, in, rows, n, k, values, indices,
           [=](const auto* row, int64_t* places) { top_k_row(row, n, k, largest, sorted, places); });
}

void kth_rows(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, size_t k, void* values,
              int64_t* indices) {
  any_type(pool, dtype, in, rows, n, 1, values, indices,
           [=](const auto* row, int64_t* places) { *places = kth_row(row, n, k); });
}

}  // namespace flambeau::kernels
