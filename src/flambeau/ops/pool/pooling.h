// What the pooling operators share: the rule of sizes, and the way to the loops.
#pragma once

#include <array>
#include <vector>

#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/pool/windows.h"

namespace flambeau::ops {

struct PoolArguments {
  ShortList<Size> kernel, stride, padding, dilation;
  bool rounds_up = false;
};

// One number for each dimension; no stride is the kernel's size.
PoolArguments pool_arguments(size_t dims, std::span<const Size> kernel, std::span<const Size> stride,
                             std::span<const Size> padding, std::span<const Size> dilation, bool rounds_up);
void check_pool_arguments(const PoolArguments& arguments);
[[noreturn]] void fail_pool_rank(size_t dims, const std::string& sizes);
[[noreturn]] void fail_pool_size(const std::string& input, const std::string& output);

template <typename N>
void check_pool_input(const Info<N>& input, size_t dims, bool takes_empty_batch = true) {
  bool fits = input.dim() == dims + 1 || input.dim() == dims + 2;
  const size_t first = input.dim() == dims + 2 && takes_empty_batch ? 1 : 0;
  for (size_t d = first; fits && d < input.dim(); ++d) fits = !(input.sizes[d] == N(0));
  if (!fits) fail_pool_rank(dims, sizes_text(input.sizes.span()));
}

template <typename N>
N pooled_size(const N& size, const PoolArguments& arguments, size_t d) {
  const N padding = arguments.padding[d];
  const N reach = arguments.dilation[d] * (arguments.kernel[d] - 1) + 1;
  const N stride = arguments.stride[d];
  N result =
      floor_div(size + N(2) * padding - reach + (arguments.rounds_up ? stride - N(1) : N(0)), stride) + N(1);
  // The last window must begin inside the image or the padding before it.
  if (arguments.rounds_up && (result - N(1)) * stride >= size + padding) result = result - N(1);
  return result;
}

// Sizes as pooled; channels last where the input lies so and `keeps_order`.
template <typename N>
Info<N> pooled_info(const Info<N>& input, const ShortList<N>& spatial, bool keeps_order) {
  Info<N> out{.dtype = input.dtype, .device = input.device};
  for (size_t d = 0; d + spatial.size() < input.dim(); ++d) out.sizes.push_back(input.sizes[d]);
  for (const N& size : spatial) out.sizes.push_back(size);
  const bool is_last = keeps_order && input.dim() == spatial.size() + 2 &&
                       suggested_format(input) != MemoryFormat::kContiguous;
  out.strides = is_last ? channels_last_strides(out.sizes) : row_major(out.sizes);
  return out;
}

template <typename N>
Info<N> plain_pool_info(const Info<N>& input, size_t dims, const PoolArguments& arguments, bool keeps_order) {
  check_pool_arguments(arguments);
  check_pool_input(input, dims);
  ShortList<N> spatial;
  bool is_large_enough = true;
  for (size_t d = 0; d < dims; ++d) {
    spatial.push_back(pooled_size<N>(input.sizes[input.dim() - dims + d], arguments, d));
    is_large_enough = is_large_enough && spatial[d] >= N(1);
  }
  Info<N> out = pooled_info(input, spatial, keeps_order);
  if (!is_large_enough) fail_pool_size(sizes_text(input.sizes.span()), sizes_text(out.sizes.span()));
  return out;
}

// A shape with the memory that its windows lie in.
struct Windows {
  PoolShape shape;
  std::array<ScratchVector<int64_t>, 9> numbers;

  // Sets the windows of an axis: `window` gives begin, end and extent of each position.
  template <typename Window>
  void set(size_t axis_index, Window&& window) {
    WindowAxis& axis = shape.axes[axis_index];
    auto* const lists = &numbers[axis_index * 3];
    for (size_t i = 0; i < 3; ++i) lists[i].reserve(static_cast<size_t>(axis.out));
    for (int64_t o = 0; o < axis.out; ++o) {
      const std::array<int64_t, 3> found = window(o);
      for (size_t i = 0; i < 3; ++i) lists[i].push_back(found[i]);
    }
    axis.begin = lists[0].data();
    axis.end = lists[1].data();
    axis.extent = lists[2].data();
  }
};

Windows plain_windows(const Tensor& input, const Tensor& out, const PoolArguments& arguments);
Windows adaptive_windows(const Tensor& input, const Tensor& out, size_t dims);

// Fill `out` (and `indices`, int64, unless null), which have the same sizes and memory order.
void pool_max(Context& context, const PoolShape& shape, const Tensor& input, const Tensor& out,
              const Tensor* indices);
void pool_mean(Context& context, const PoolShape& shape, const Tensor& input, const Tensor& out);

// Numbers along a line as those of an image of one row.
inline Dims with_row(std::span<const Size> numbers, int64_t row) {
  Dims both(numbers);
  if (!both.empty()) both.insert(0, row);
  return both;
}

}  // namespace flambeau::ops
