#include "flambeau/ops/pool/pooling.h"

#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

ShortList<Size> for_each_pooled(std::span<const Size> given, size_t dims, const char* name) {
  if (given.size() == dims) return given;
  if (given.size() == 1) return ShortList<Size>(dims, given[0]);
  fail_argument(fmt::format("pooling: {} must either be a single int, or a tuple of {} ints", name, dims));
}

// A packed tensor of the compute type with the elements in the wanted order; the tensor itself where it is
// one.
Tensor in_order(Context& context, const Tensor& tensor, bool channels_last, bool copies) {
  const DType dtype = compute_dtype(tensor.dtype());
  Info<Size> info = info_of(tensor);
  const bool lies_so = channels_last ? is_channels_last(info) : is_contiguous(info);
  if (tensor.dtype() == dtype && lies_so) return tensor;
  info.dtype = dtype;
  info.strides = channels_last ? channels_last_strides(info.sizes) : row_major(info.sizes);
  const Tensor made = context.allocate(info);
  if (copies) copy_into(context, tensor, made);
  return made;
}

template <typename T>
const PoolLoops<T>& loops_of() {
  if constexpr (std::is_same_v<T, float>) {
    return FLAMBEAU_PICK(float_pool)();
  } else if constexpr (std::is_same_v<T, double>) {
    return FLAMBEAU_PICK(double_pool)();
  } else {
    return FLAMBEAU_PICK(int_pool)();
  }
}

template <typename Body>
void for_rows(Context& context, const PoolShape& shape, Body&& body) {
  const int64_t images = shape.is_channels_last ? shape.batch : shape.batch * shape.channels;
  const int64_t rows = images * shape.axes[0].out * shape.axes[1].out;
  double cost = static_cast<double>(shape.axes[2].out * (shape.is_channels_last ? shape.channels : 1));
  for (const WindowAxis& axis : shape.axes) {
    cost *= static_cast<double>(std::max<int64_t>((axis.end[0] - axis.begin[0]) / axis.step, 1));
  }
  const auto grain = static_cast<size_t>(std::max(kGrain / std::max(cost, 1.0), 1.0));
  context.pool().for_each_range(static_cast<size_t>(rows), grain, [&](size_t begin, size_t end) {
    body(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

template <typename Body>
void with_type(DType dtype, std::string_view what, Body&& body) {
  switch (compute_type(dtype)) {
    case Compute::kFloat:
      return body(float{});
    case Compute::kDouble:
      return body(double{});
    case Compute::kInt64:
      return body(int64_t{});
    default:
      fail_dtype(what, dtype);
  }
}

// Sizes set, dimensions that are missing passed through.
Windows empty_windows(const Tensor& input, const Tensor& out, size_t dims) {
  Windows windows;
  PoolShape& shape = windows.shape;
  const size_t rank = input.dim();
  shape.batch = rank == dims + 2 ? input.sizes()[0] : 1;
  shape.channels = input.sizes()[rank - dims - 1];
  const Info<Size> info = info_of(out);
  shape.is_channels_last = rank == dims + 2 && !is_contiguous(info) && is_channels_last(info);
  for (size_t axis = 0; axis + dims < 3; ++axis) {
    windows.set(axis, [](int64_t) -> std::array<int64_t, 3> { return {0, 1, 1}; });
  }
  for (size_t d = 0; d < dims; ++d) {
    shape.axes[3 - dims + d].in = input.sizes()[rank - dims + d];
    shape.axes[3 - dims + d].out = out.sizes()[rank - dims + d];
  }
  return windows;
}

}  // namespace

void poll_pooling() { poll_work(); }

PoolArguments pool_arguments(size_t dims, std::span<const Size> kernel, std::span<const Size> stride,
                             std::span<const Size> padding, std::span<const Size> dilation, bool rounds_up) {
  PoolArguments arguments;
  arguments.kernel = for_each_pooled(kernel, dims, "kernel_size");
  arguments.stride = stride.empty() ? arguments.kernel : for_each_pooled(stride, dims, "stride");
  arguments.padding = for_each_pooled(padding, dims, "padding");
  arguments.dilation = for_each_pooled(dilation, dims, "dilation");
  arguments.rounds_up = rounds_up;
  return arguments;
}

void check_pool_arguments(const PoolArguments& arguments) {
  for (size_t d = 0; d < arguments.kernel.size(); ++d) {
    if (arguments.kernel[d] <= 0)
      fail_argument(fmt::format("kernel size should be greater than zero, but got kernel size: {}",
                                sizes_text(arguments.kernel.span())));
    if (arguments.stride[d] <= 0)
      fail_argument(fmt::format("stride should be greater than zero, but got stride: {}",
                                sizes_text(arguments.stride.span())));
    if (arguments.dilation[d] <= 0)
      fail_argument(fmt::format("dilation should be greater than zero, but got dilation: {}",
                                sizes_text(arguments.dilation.span())));
    const Size reach = (arguments.kernel[d] - 1) * arguments.dilation[d] + 1;
    if (arguments.padding[d] < 0)
      fail_argument(fmt::format("pad must be non-negative, but got pad: {}", arguments.padding[d]));
    if (arguments.padding[d] * 2 > reach)
      fail_argument(fmt::format(
          "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and "
          "dilation={}",
          arguments.padding[d], arguments.kernel[d], arguments.dilation[d]));
  }
}

void fail_pool_rank(size_t dims, const std::string& sizes) {
  fail_argument(fmt::format(
      "Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got: {}",
      dims + 1, dims + 2, sizes));
}

void fail_pool_size(const std::string& input, const std::string& output) {
  fail_argument(fmt::format("Given input size: {}. Calculated output size: {}. Output size is too small",
                            input, output));
}

Windows plain_windows(const Tensor& input, const Tensor& out, const PoolArguments& arguments) {
  const size_t dims = arguments.kernel.size();
  Windows windows = empty_windows(input, out, dims);
  for (size_t d = 0; d < dims; ++d) {
    WindowAxis& axis = windows.shape.axes[3 - dims + d];
    axis.step = arguments.dilation[d];
    // Windows larger than the image have taps that meet nothing, perhaps as many as numbers go.
    axis.is_regular = arguments.kernel[d] <= axis.in && arguments.dilation[d] <= axis.in;
    axis.kernel = arguments.kernel[d];
    axis.stride = arguments.stride[d];
    axis.padding = arguments.padding[d];
    windows.set(3 - dims + d, [&](int64_t o) -> std::array<int64_t, 3> {
      const Size first = Size(o) * axis.stride - axis.padding;
      const Size last = first + (Size(axis.kernel) - 1) * axis.step + 1;
      const Size skipped = first < 0 ? (-first - 1) / axis.step + 1 : Size(0);
      const Size begin = first + skipped * axis.step;
      return {begin, max(min(last, axis.in), begin), min(last, Size(axis.in) + axis.padding) - first};
    });
    axis.step = std::min(axis.step, axis.in);  // one that leaves the image leaves it anyway
  }
  return windows;
}

Windows adaptive_windows(const Tensor& input, const Tensor& out, size_t dims) {
  Windows windows = empty_windows(input, out, dims);
  for (size_t d = 0; d < dims; ++d) {
    const WindowAxis& axis = windows.shape.axes[3 - dims + d];
    windows.set(3 - dims + d, [&](int64_t o) -> std::array<int64_t, 3> {
      const Size begin = Size(o) * axis.in / axis.out;
      const Size end = ((Size(o) + 1) * axis.in + axis.out - 1) / axis.out;
      return {begin, end, end - begin};
    });
  }
  return windows;
}

void pool_max(Context& context, const PoolShape& shape, const Tensor& input, const Tensor& out,
              const Tensor* indices) {
  const Tensor from = in_order(context, input, shape.is_channels_last, true);
  const Tensor to = in_order(context, out, shape.is_channels_last, false);
  int64_t* const index = indices == nullptr ? nullptr : indices->mutable_data<int64_t>();
  with_type(out.dtype(), "max_pool", [&]<typename T>(T) {
    const T* const source = from.data<T>();
    T* const target = to.mutable_data<T>();
    for_rows(context, shape, [&](int64_t begin, int64_t end) {
      loops_of<T>().max_rows(shape, source, target, index, begin, end);
    });
  });
  if (to.storage() != out.storage()) copy_into(context, to, out);
}

void pool_mean(Context& context, const PoolShape& shape, const Tensor& input, const Tensor& out) {
  const Tensor from = in_order(context, input, shape.is_channels_last, true);
  const Tensor to = in_order(context, out, shape.is_channels_last, false);
  with_type(out.dtype(), "avg_pool", [&]<typename T>(T) {
    const T* const source = from.data<T>();
    T* const target = to.mutable_data<T>();
    for_rows(context, shape,
             [&](int64_t begin, int64_t end) { loops_of<T>().mean_rows(shape, source, target, begin, end); });
  });
  if (to.storage() != out.storage()) copy_into(context, to, out);
}

}  // namespace flambeau::ops
