// PyTorch's rules for the sizes and memory layout of results: broadcasting, and strides that follow the
// arguments'.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/tensor/memory_format.h"

namespace flambeau::ops {

// Throws Error(kInvalidArgument) in PyTorch's words.
[[noreturn]] void fail_broadcast(const std::string& a, const std::string& b, size_t dim);
std::string number_text(int64_t number);
inline std::string number_text(Size number) { return number_text(number.value()); }
std::string number_text(const SymInt& number);

// Throws the same unless the sizes broadcast to those wanted: for whoever makes offsets of them.
void require_broadcast(std::span<const int64_t> sizes, std::span<const int64_t> wanted);

// In which order sizes are compared: where they are symbols, guards say so.
enum class Compared : uint8_t { kInOrder, kLastFirst };

template <typename N>
ShortList<N> broadcast(const ShortList<N>& a, const ShortList<N>& b, Compared order = Compared::kInOrder) {
  if (a.size() < b.size()) {
    return broadcast(b, a, order == Compared::kInOrder ? Compared::kLastFirst : Compared::kInOrder);
  }
  ShortList<N> sizes = a;
  const size_t shift = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    N& size = sizes[d + shift];
    if ((order == Compared::kInOrder ? size == b[d] : b[d] == size) || b[d] == N(1)) continue;
    if (!(size == N(1))) {
      // PyTorch names the last dimension that does not match, and the sizes as they were given.
      size_t last = d;
      if constexpr (!std::is_same_v<N, SymInt>) {
        last = b.size() - 1;
        while (last > d && (a[last + shift] == b[last] || a[last + shift] == N(1) || b[last] == N(1))) --last;
      }
      fail_broadcast(number_text(a[last + shift]), number_text(b[last]), last + shift);
    }
    size = b[d];
  }
  return sizes;
}

template <typename N>
bool is_contiguous(const Info<N>& info) {
  N expected = 1;
  for (size_t d = info.dim(); d-- > 0;) {
    if (info.sizes[d] == N(0)) return true;
    if (info.sizes[d] == N(1)) continue;
    if (!(info.strides[d] == expected)) return false;
    expected *= info.sizes[d];
  }
  return true;
}

// Throws Error(kInvalidArgument) in PyTorch's words unless tensors of the rank can lie in the format.
void require_rank_of(MemoryFormat format, size_t rank);

// Strides with the channels (dimension 1) innermost; of rank 4 or 5.
template <typename N>
ShortList<N> channels_last_strides(const ShortList<N>& sizes) {
  ShortList<N> strides;
  strides.resize(sizes.size());
  strides[1] = 1;
  N stride = max(sizes[1], N(1));
  for (size_t d = sizes.size(); d-- > 2;) {
    strides[d] = stride;
    stride = stride * max(sizes[d], N(1));
  }
  strides[0] = stride;
  return strides;
}

template <typename N>
bool is_channels_last(const Info<N>& info) {
  if (info.dim() != 4 && info.dim() != 5) return false;
  N expected = 1;
  const auto fits = [&](size_t d) {
    if (!(info.sizes[d] == N(1))) {
      if (!(info.strides[d] == expected)) return false;
      expected *= info.sizes[d];
    }
    return true;
  };
  if (!fits(1)) return false;
  for (size_t d = info.dim(); d-- > 2;) {
    if (!fits(d)) return false;
  }
  return fits(0);
}

// What PyTorch calls suggest_memory_format: channels last where the strides say so more than they say
// row-major.
template <typename N>
MemoryFormat suggested_format(const Info<N>& info) {
  if (info.dim() != 4 && info.dim() != 5) return MemoryFormat::kContiguous;
  N least = 0;
  if (info.strides[1] == N(0)) return MemoryFormat::kContiguous;
  const auto follows = [&](size_t d) {
    if (info.sizes[d] == N(0) || info.strides[d] < least) return false;
    // Sizes of 1 leave the order open: a row-major tensor must not pass for channels last.
    if (d == 0 && least == info.strides[1]) return false;
    least = info.strides[d];
    if (info.sizes[d] > N(1)) least *= info.sizes[d];
    return true;
  };
  if (!follows(1)) return MemoryFormat::kContiguous;
  for (size_t d = info.dim(); d-- > 2;) {
    if (!follows(d)) return MemoryFormat::kContiguous;
  }
  if (!follows(0)) return MemoryFormat::kContiguous;
  return info.dim() == 4 ? MemoryFormat::kChannelsLast : MemoryFormat::kChannelsLast3d;
}

// Every element of a range of memory exactly once, in whatever order of dimensions.
template <typename N>
bool is_dense(const Info<N>& info) {
  std::vector<size_t> order;
  for (size_t d = 0; d < info.dim(); ++d) {
    if (info.sizes[d] == N(0)) return true;
    if (!(info.sizes[d] == N(1))) order.push_back(d);
  }
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && info.strides[order[j]] < info.strides[order[j - 1]]; --j)
      std::swap(order[j], order[j - 1]);
  }
  N expected = 1;
  for (const size_t d : order) {
    if (!(info.strides[d] == expected)) return false;
    expected *= info.sizes[d];
  }
  return true;
}

// The strides of a fresh result of elementwise work over arguments that broadcast to `sizes`.
template <typename N>
ShortList<N> elementwise_strides(const ShortList<N>& sizes, std::span<const Info<N>* const> arguments) {
  const size_t rank = sizes.size();
  bool same_shape = true;
  for (const Info<N>* const argument : arguments)
    same_shape = same_shape && argument->sizes.size() == rank && argument->sizes == sizes;
  if (same_shape && !arguments.empty()) {
    const auto all = [&](auto&& holds) {
      for (const Info<N>* const argument : arguments) {
        if (!holds(*argument)) return false;
      }
      return true;
    };
    if (all([](const Info<N>& info) { return is_contiguous(info); })) return row_major(sizes);
    if (rank == 4 && all([](const Info<N>& info) { return is_channels_last(info); }))
      return channels_last_strides(sizes);
    const Info<N>& first = *arguments[0];
    if (all([&](const Info<N>& info) { return info.strides == first.strides; }) && is_dense(first))
      return first.strides;
  }
  // Dimensions, fastest first, in the order most arguments have them.
  const auto stride_of = [&](const Info<N>& argument, size_t d) -> N {
    const size_t shift = rank - argument.dim();
    if (d < shift) return 0;
    if (argument.sizes[d - shift] == N(1) && !(sizes[d] == N(1))) return 0;
    // In bytes, as arguments of different types are compared one by one only.
    return argument.strides[d - shift];
  };
  const auto order_of = [&](size_t a, size_t b) {
    for (const Info<N>* const argument : arguments) {
      const N stride_a = stride_of(*argument, a);
      const N stride_b = stride_of(*argument, b);
      if (stride_a == N(0) || stride_b == N(0)) continue;
      if (stride_a < stride_b) return -1;
      if (stride_b < stride_a) return 1;
      if (sizes[b] < sizes[a]) return 1;
    }
    return 0;
  };
  ShortList<int64_t> order;
  for (size_t d = rank; d-- > 0;) order.push_back(static_cast<int64_t>(d));
  for (size_t i = 1; i < rank; ++i) {
    size_t moving = i;
    for (size_t j = i; j-- > 0;) {
      const int comparison = order_of(static_cast<size_t>(order[j]), static_cast<size_t>(order[moving]));
      if (comparison < 0) break;
      if (comparison > 0) {
        std::swap(order[j], order[moving]);
        moving = j;
      }
    }
  }
  bool is_row_major = true;
  for (size_t i = 0; i < rank; ++i)
    is_row_major = is_row_major && order[i] == static_cast<int64_t>(rank - 1 - i);
  if (is_row_major) return row_major(sizes);
  ShortList<N> strides;
  strides.resize(rank);
  N stride = 1;
  for (const int64_t d : order) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= sizes[static_cast<size_t>(d)];
  }
  return strides;
}

// The result of elementwise work: broadcast sizes, strides as above, the device of the first argument.
template <typename N>
Info<N> elementwise_info(DType dtype, std::span<const Info<N>* const> arguments,
                         Compared order = Compared::kLastFirst) {
  ShortList<N> sizes = arguments[0]->sizes;
  for (size_t i = 1; i < arguments.size(); ++i) sizes = broadcast(sizes, arguments[i]->sizes, order);
  ShortList<N> strides = elementwise_strides(sizes, arguments);
  return {.dtype = dtype,
          .sizes = std::move(sizes),
          .strides = std::move(strides),
          .device = arguments[0]->device};
}
template <typename N, typename... More>
Info<N> elementwise_info(DType dtype, const Info<N>& first, const More&... more) {
  const Info<N>* const arguments[] = {&first, &more...};
  return elementwise_info<N>(dtype, std::span<const Info<N>* const>(arguments));
}

// The strides of a fresh tensor like another one (clone, empty_like, to): its own where it is dense, else
// those elementwise work gives; or as the format says.
template <typename N>
ShortList<N> like_strides(const Info<N>& info, MemoryFormat format) {
  if (format == MemoryFormat::kChannelsLast || format == MemoryFormat::kChannelsLast3d) {
    require_rank_of(format, info.dim());
    return channels_last_strides(info.sizes);
  }
  if (format == MemoryFormat::kContiguous) return row_major(info.sizes);
  if (is_dense(info)) return info.strides;
  const Info<N>* const arguments[] = {&info};
  return elementwise_strides<N>(info.sizes, std::span<const Info<N>* const>(arguments));
}

}  // namespace flambeau::ops
