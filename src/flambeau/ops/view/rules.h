// The rules of views that several families share: what sizes, strides and offset a view has. Templates over
// the number, so that tracing uses the same ones.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

// Throws Error(kInvalidArgument) with this text.
[[noreturn]] void fail_view(const std::string& text);

// A parameter that follows the number of the others: a plain integer or list may be given for it.
template <typename T>
using Given = std::type_identity_t<T>;

// "[2, 3]".
template <typename N>
std::string sizes_text(std::span<const N> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ", ") + number_text(sizes[i]);
  return text + "]";
}
template <typename N>
std::string sizes_text(const ShortList<N>& sizes) {
  return sizes_text(sizes.span());
}

// A stride that is too large belongs to a dimension nobody walks along.
inline Size stride_times(Size a, Size b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a.value()) * static_cast<uint64_t>(b.value()));
}
inline SymInt stride_times(const SymInt& a, const SymInt& b) { return a * b; }

template <typename N>
N product(std::span<const N> sizes) {
  N count = 1;
  for (const N& size : sizes) count *= size;
  return count;
}

// A shape in which one size may be -1: whatever makes it hold `count` elements.
template <typename N>
ShortList<N> infer_sizes(Given<std::span<const N>> shape, const N& count) {
  ShortList<N> sizes(shape);
  std::optional<size_t> inferred;
  N known = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == N(-1)) {
      if (inferred) fail_view("only one dimension can be inferred");
      inferred = d;
    } else if (shape[d] < N(0)) {
      fail_view("invalid shape dimension " + number_text(shape[d]));
    } else {
      known *= shape[d];
    }
  }
  if (inferred) {
    if (known == N(0) && count == N(0)) {
      fail_view("cannot reshape tensor of 0 elements into shape " + sizes_text(shape) +
                " because the unspecified dimension size -1 can be any value and is ambiguous");
    }
    if (known > N(0) && modulo(count, known) == N(0)) {
      sizes[*inferred] = floor_div(count, known);
      return sizes;
    }
  } else if (count == known) {
    return sizes;
  }
  fail_view("shape '" + sizes_text(shape) + "' is invalid for input of size " + number_text(count));
}

// Strides that show the same elements in the same order with other sizes; nothing where no strides do.
template <typename N>
std::optional<ShortList<N>> view_strides(const Info<N>& info, const ShortList<N>& sizes) {
  ShortList<N> strides;
  strides.resize(sizes.size());
  if (info.dim() == 0) {
    for (N& stride : strides) stride = 1;
    return strides;
  }
  if (info.element_count() == N(0)) {
    if (info.sizes == sizes) return info.strides;
    return row_major(sizes);
  }
  // Runs of dimensions that lie evenly are one dimension of memory, which the new ones must fill exactly.
  auto next = static_cast<int64_t>(sizes.size()) - 1;
  N base = info.strides.back();
  N old_count = 1;
  N new_count = 1;
  for (size_t d = info.dim(); d-- > 0;) {
    old_count *= info.sizes[d];
    if (d > 0 && (info.sizes[d - 1] == N(1) || info.strides[d - 1] == old_count * base)) continue;
    while (next >= 0 && (new_count < old_count || sizes[static_cast<size_t>(next)] == N(1))) {
      strides[static_cast<size_t>(next)] = new_count * base;
      new_count *= sizes[static_cast<size_t>(next)];
      --next;
    }
    if (!(new_count == old_count)) return std::nullopt;
    if (d > 0) {
      base = info.strides[d - 1];
      old_count = 1;
      new_count = 1;
    }
  }
  if (next != -1) return std::nullopt;
  return strides;
}

template <typename N>
Info<N> view_info(const Info<N>& self, Given<std::span<const N>> shape) {
  Info<N> info = self;
  info.sizes = infer_sizes(shape, self.element_count());
  std::optional<ShortList<N>> strides = view_strides(self, info.sizes);
  if (!strides) {
    fail_view(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans "
        "across "
        "two contiguous subspaces). Use .reshape(...) instead.");
  }
  info.strides = std::move(*strides);
  return info;
}

// A view where strides allow it, else the geometry of a row-major copy.
template <typename N>
Info<N> reshape_info(const Info<N>& self, Given<std::span<const N>> shape) {
  Info<N> info = self;
  info.sizes = infer_sizes(shape, self.element_count());
  if (std::optional<ShortList<N>> strides = view_strides(self, info.sizes)) {
    info.strides = std::move(*strides);
  } else {
    info.strides = row_major(info.sizes);
    info.offset = 0;
  }
  return info;
}

template <typename N>
Info<N> flatten_info(const Info<N>& self, Size start_dim, Size end_dim) {
  const size_t start = wrap_dim(start_dim, self.dim());
  const size_t end = wrap_dim(end_dim, self.dim());
  if (start > end) fail_view("flatten() has invalid args: start_dim cannot come after end_dim");
  ShortList<N> sizes;
  if (self.dim() == 0) {
    sizes.push_back(1);
  } else if (start == end) {
    return self;
  } else {
    for (size_t d = 0; d < start; ++d) sizes.push_back(self.sizes[d]);
    sizes.push_back(product(self.sizes.span().subspan(start, end - start + 1)));
    for (size_t d = end + 1; d < self.dim(); ++d) sizes.push_back(self.sizes[d]);
  }
  return reshape_info(self, sizes.span());
}

template <typename N>
Info<N> permute_info(const Info<N>& self, std::span<const Size> order) {
  if (order.size() != self.dim()) {
    fail_view(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
        "desired "
        "ordering of dimensions i.e. input.dim() = " +
        number_text(static_cast<int64_t>(self.dim())) +
        " is not equal to len(dims) = " + number_text(static_cast<int64_t>(order.size())));
  }
  Info<N> info = self;
  ShortList<int64_t> seen(order.size(), 0);
  for (size_t d = 0; d < order.size(); ++d) {
    const size_t from = wrap_dim(order[d], self.dim());
    if (seen[from]++ != 0) fail_view("permute(): duplicate dims are not allowed.");
    info.sizes[d] = self.sizes[from];
    info.strides[d] = self.strides[from];
  }
  return info;
}

template <typename N>
Info<N> transpose_info(const Info<N>& self, Size dim0, Size dim1) {
  const size_t a = wrap_dim(dim0, self.dim());
  const size_t b = wrap_dim(dim1, self.dim());
  Info<N> info = self;
  if (self.dim() == 0 || a == b) return info;
  std::swap(info.sizes[a], info.sizes[b]);
  std::swap(info.strides[a], info.strides[b]);
  return info;
}

template <typename N>
Info<N> unsqueeze_info(const Info<N>& self, Size dim) {
  const size_t d = wrap_dim(dim, self.dim() + 1);
  Info<N> info = self;
  N stride = 1;
  if (d < self.dim()) stride = self.sizes[d] * self.strides[d];
  info.sizes.insert(d, N(1));
  info.strides.insert(d, stride);
  return info;
}

template <typename N>
Info<N> expand_info(const Info<N>& self, Given<std::span<const N>> sizes) {
  const auto tensor_text = [&] {
    return "  Target sizes: " + sizes_text(sizes) + ".  Tensor sizes: " + sizes_text(self.sizes);
  };
  if (sizes.size() < self.dim()) {
    fail_view("expand: the number of sizes provided (" + number_text(static_cast<int64_t>(sizes.size())) +
              ") must be greater or equal to the number of dimensions in the tensor (" +
              number_text(static_cast<int64_t>(self.dim())) + ")");
  }
  Info<N> info = self;
  info.sizes = ShortList<N>(sizes);
  info.strides.resize(sizes.size());
  const size_t shift = sizes.size() - self.dim();
  for (size_t d = sizes.size(); d-- > 0;) {
    const bool is_new = d < shift;
    N size = is_new ? N(1) : self.sizes[d - shift];
    N stride = 0;
    if (!is_new) {
      stride = self.strides[d - shift];
    } else if (self.dim() > 0) {
      stride = info.sizes[d + 1] * info.strides[d + 1];
    }
    if (sizes[d] == N(-1)) {
      if (is_new) {
        fail_view("The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension " +
                  number_text(static_cast<int64_t>(d)));
      }
    } else if (!(size == sizes[d])) {
      if (!(size == N(1))) {
        fail_view("The expanded size of the tensor (" + number_text(sizes[d]) +
                  ") must match the existing size (" + number_text(size) + ") at non-singleton dimension " +
                  number_text(static_cast<int64_t>(d)) + "." + tensor_text());
      }
      if (sizes[d] < N(0))
        fail_view("The expanded size of the tensor (" + number_text(sizes[d]) + ") is negative." +
                  tensor_text());
      size = sizes[d];
      stride = 0;
    }
    info.sizes[d] = size;
    info.strides[d] = stride;
  }
  product(info.sizes.span());
  return info;
}

template <typename N>
Info<N> select_info(const Info<N>& self, Size dim, const Given<N>& index) {
  if (self.dim() == 0) fail_view("select() cannot be applied to a 0-dim tensor.");
  const size_t d = wrap_dim(dim, self.dim());
  const N& size = self.sizes[d];
  N at = index;
  if (at < N(0)) at += size;
  if (at < N(0) || at >= size) {
    fail_view("select(): index " + number_text(index) + " out of range for tensor of size " +
              sizes_text(self.sizes) + " at dimension " + number_text(static_cast<int64_t>(d)));
  }
  Info<N> info = self;
  info.offset += at * self.strides[d];
  info.sizes.erase(d);
  info.strides.erase(d);
  return info;
}

// Nothing, or the largest number, which stands for it: no question for a symbol.
template <typename N>
bool ends_nowhere(const std::optional<N>& end) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  if (!end) return true;
  if constexpr (std::is_same_v<N, Size>) {
    return *end == kLargest;
  } else {
    return end->is_literal() && end->literal() == kLargest;
  }
}

template <typename N>
Info<N> slice_info(const Info<N>& self, Size dim, const Given<std::optional<N>>& from,
                   const Given<std::optional<N>>& to, const Given<N>& step) {
  if (self.dim() == 0) fail_view("slice() cannot be applied to a 0-dim tensor.");
  const size_t d = wrap_dim(dim, self.dim());
  if (step <= N(0)) fail_view("slice step must be positive");
  const N& size = self.sizes[d];
  N start = from.value_or(N(0));
  N end = ends_nowhere(to) ? size : *to;
  if (start < N(0)) start += size;
  if (start < N(0)) start = 0;
  if (start > size) start = size;
  if (end < N(0)) end += size;
  if (end > size) end = size;
  if (end < start) end = start;
  Info<N> info = self;
  info.offset += start * self.strides[d];
  info.sizes[d] = step == N(1) ? end - start : floor_div(end - start - N(1), step) + N(1);
  info.strides[d] = stride_times(self.strides[d], step);
  return info;
}

// Elements [start, start + length) of a dimension; unchecked.
template <typename N>
Info<N> part_info(const Info<N>& self, size_t dim, const Given<N>& start, const Given<N>& length) {
  Info<N> info = self;
  info.offset += start * self.strides[dim];
  info.sizes[dim] = length;
  return info;
}

template <typename N>
Info<N> narrow_info(const Info<N>& self, Size dim, const Given<N>& start, const Given<N>& length) {
  if (self.dim() == 0) fail_view("narrow() cannot be applied to a 0-dim tensor.");
  if (length < N(0)) fail_view("narrow(): length must be non-negative.");
  const size_t d = wrap_dim(dim, self.dim());
  const N& size = self.sizes[d];
  if (start < -size || start > size) {
    fail_view("start out of range (expected to be in range of [" + number_text(-size) + ", " +
              number_text(size) + "], but got " + number_text(start) + ")");
  }
  const N at = start < N(0) ? start + size : start;
  if (at > size - length) {
    fail_view("start (" + number_text(at) + ") + length (" + number_text(length) +
              ") exceeds dimension size (" + number_text(size) + ").");
  }
  return part_info(self, d, at, length);
}

template <typename N>
Info<N> diagonal_info(const Info<N>& self, Size offset, Size dim1, Size dim2) {
  const size_t a = wrap_dim(dim1, self.dim());
  const size_t b = wrap_dim(dim2, self.dim());
  if (a == b) {
    fail_view("diagonal dimensions cannot be identical " + number_text(dim1) + ", " + number_text(dim2));
  }
  Info<N> info = self;
  N size = offset >= 0 ? min(self.sizes[a], self.sizes[b] - N(offset))
                       : min(self.sizes[a] + N(offset), self.sizes[b]);
  size = max(size, N(0));
  if (!(size == N(0))) {
    info.offset += offset >= 0 ? N(offset) * self.strides[b] : N(-offset) * self.strides[a];
  }
  const N stride = self.strides[a] + self.strides[b];
  for (const size_t d : {std::max(a, b), std::min(a, b)}) {
    info.sizes.erase(d);
    info.strides.erase(d);
  }
  info.sizes.push_back(size);
  info.strides.push_back(stride);
  return info;
}

// Dense, in that format.
template <typename N>
Info<N> formatted(DType dtype, ShortList<N> sizes, MemoryFormat format, Device device) {
  Info<N> info = contiguous(dtype, std::move(sizes), device);
  if (format == MemoryFormat::kChannelsLast || format == MemoryFormat::kChannelsLast3d) {
    info.strides = channels_last_strides(info.sizes);
  }
  return info;
}

// A fresh copy with the geometry kept, gaps in memory and all, unless elements share memory.
template <typename N>
Info<N> kept_info(const Info<N>& self) {
  Info<N> info = self;
  info.offset = 0;
  info.is_wrapped_number = false;
  for (size_t d = 0; d < self.dim(); ++d) {
    if (self.strides[d] == N(0) && !(self.sizes[d] == N(1))) {
      info.strides = like_strides(self, MemoryFormat::kPreserve);
      break;
    }
  }
  return info;
}

// Any geometry within the storage. Throws Error(kInvalidArgument) for another one.
Tensor checked_view(const Tensor& base, std::span<const Size> sizes, std::span<const Size> strides,
                    int64_t offset);

// The tensor that a rule describes, in the memory of another one. Throws Error(kInternal) where it leaves it.
Tensor viewed(const Tensor& base, const Info<Size>& info);
inline Tensor part_of(const Tensor& base, size_t dim, int64_t start, int64_t length) {
  return viewed(base, part_info(info_of(base), dim, start, length));
}
inline Tensor expanded(const Tensor& base, std::span<const Size> sizes) {
  return viewed(base, expand_info(info_of(base), sizes));
}

}  // namespace flambeau::ops
