// The mean of windows: of a given size, or as many as a result needs.
#include <algorithm>

#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/pool/pooling.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;
constexpr Size kOne[] = {1};

template <typename N>
Info<N> mean_info(const Info<N>& self, size_t dims, Numbers kernel_size, Numbers stride, Numbers padding,
                  bool ceil_mode, std::optional<Size> divisor_override) {
  require(!divisor_override || *divisor_override != 0, "divisor must be not zero");
  return plain_pool_info(self, dims, pool_arguments(dims, kernel_size, stride, padding, kOne, ceil_mode),
                         dims == 2);
}

void pool_windows(Context& context, const Tensor& self, size_t dims, Numbers kernel_size, Numbers stride,
                  Numbers padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override, Tensor& out) {
  if (!is_floating(self.dtype()) && self.dtype() != DType::kInt64) {
    fail_dtype(dims == 3 ? "avg_pool3d_out_frame" : "avg_pool2d", self.dtype());
  }
  Windows windows =
      plain_windows(self, out, pool_arguments(dims, kernel_size, stride, padding, kOne, ceil_mode));
  Size largest = 1;  // window, which is divided by
  for (const WindowAxis& axis : windows.shape.axes) {
    largest *= *std::max_element(axis.extent, axis.extent + axis.out);
  }
  windows.shape.includes_padding = count_include_pad;
  windows.shape.divisor = divisor_override.value_or(0);
  pool_mean(context, windows.shape, self, out);
}

template <typename N>
Info<N> avg_pool1d_shape(const Info<N>& self, Numbers kernel_size, Numbers stride, Numbers padding,
                         bool ceil_mode, bool) {
  return mean_info(self, 1, kernel_size, stride, padding, ceil_mode, std::nullopt);
}
void avg_pool1d_kernel(Context& context, const Tensor& self, Numbers kernel_size, Numbers stride,
                       Numbers padding, bool ceil_mode, bool count_include_pad, Tensor& out) {
  pool_windows(context, self, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, std::nullopt,
               out);
}

template <typename N, size_t kDims>
Info<N> avg_pool_shape(const Info<N>& self, Numbers kernel_size, Numbers stride, Numbers padding,
                       bool ceil_mode, bool, std::optional<Size> divisor_override) {
  return mean_info(self, kDims, kernel_size, stride, padding, ceil_mode, divisor_override);
}
template <size_t kDims>
void avg_pool_kernel(Context& context, const Tensor& self, Numbers kernel_size, Numbers stride,
                     Numbers padding, bool ceil_mode, bool count_include_pad,
                     std::optional<Size> divisor_override, Tensor& out) {
  pool_windows(context, self, kDims, kernel_size, stride, padding, ceil_mode, count_include_pad,
               divisor_override, out);
}

template <typename N, size_t kDims>
Info<N> adaptive_avg_shape(const Info<N>& self, std::span<const N> output_size) {
  check_pool_input(self, kDims);
  require(output_size.size() == kDims, "adaptive_avg_pool: one size is needed for each dimension");
  bool is_mean = kDims > 1;
  for (const N& size : output_size) {
    require(size >= N(0), "adaptive_avg_pool: elements of output_size must be greater than or equal to 0");
    is_mean = is_mean && size == N(1);
  }
  // The mean of whole images keeps channels last in three dimensions too.
  return pooled_info(self, ShortList<N>(output_size), kDims == 2 || is_mean);
}

// output_size is int[1] for one dimension and SymInt for more.
template <typename N>
Info<N> adaptive_avg1d_shape(const Info<N>& self, Numbers output_size) {
  ShortList<N> sizes;
  for (const int64_t size : output_size) sizes.push_back(size);
  return adaptive_avg_shape<N, 1>(self, sizes);
}

template <size_t kDims>
void adaptive_avg_kernel(Context& context, const Tensor& self, Numbers, Tensor& out) {
  if (!is_floating(self.dtype())) {
    fail_dtype(kDims == 3 ? "adaptive_avg_pool3d_cpu" : "adaptive_avg_pool2d", self.dtype());
  }
  pool_mean(context, adaptive_windows(self, out, kDims).shape, self, out);
}

// ---- as other operators: along a line as along an image of one row

Tensor avg_pool1d_parts(Context& c, const Tensor& self, std::span<const Size> kernel,
                        std::span<const Size> stride, std::span<const Size> padding, bool ceil_mode,
                        bool count_include_pad) {
  const Tensor output =
      call(c, "aten::avg_pool2d", call(c, "aten::unsqueeze", self, -2), with_row(kernel, 1),
           with_row(stride.empty() ? kernel : stride, 1), with_row(padding, 0), ceil_mode, count_include_pad);
  return call(c, "aten::squeeze.dim", output, -2);
}
Tensor adaptive_avg_pool1d_parts(Context& c, const Tensor& self, std::span<const Size> output_size) {
  const Tensor output =
      call(c, "aten::adaptive_avg_pool2d", call(c, "aten::unsqueeze", self, -2), with_row(output_size, 1));
  return call(c, "aten::squeeze.dim", output, -2);
}
template <size_t kDims>
Tensor adaptive_avg_pool_parts(Context& c, const Tensor& self, std::span<const SymInt> output_size) {
  const bool is_mean =
      std::ranges::all_of(output_size, [](const SymInt& size) { return is_literally(size, 1); });
  if (is_mean) return call(c, "aten::mean.dim", self, kDims == 2 ? Dims{-1, -2} : Dims{-1, -2, -3}, true);
  return call(c, kDims == 2 ? "aten::_adaptive_avg_pool2d" : "aten::_adaptive_avg_pool3d", self, output_size);
}

}  // namespace

void define_avg_pool(Library& library) {
  library
      .define(
          "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool "
          "ceil_mode=False, bool count_include_pad=True) -> Tensor")
      .shape<avg_pool1d_shape<Size>, avg_pool1d_shape<SymInt>>()
      .kernel<avg_pool1d_kernel>()
      .composite<avg_pool1d_parts>();
  library
      .define(
          "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool "
          "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")
      .shape<avg_pool_shape<Size, 2>, avg_pool_shape<SymInt, 2>>()
      .kernel<avg_pool_kernel<2>>()
      .is(Trait::kAnyLayout)
      .work<reduction_work>();
  library
      .define(
          "aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool "
          "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")
      .shape<avg_pool_shape<Size, 3>, avg_pool_shape<SymInt, 3>>()
      .kernel<avg_pool_kernel<3>>();
  library.define("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
      .shape<adaptive_avg1d_shape<Size>, adaptive_avg1d_shape<SymInt>>()
      .kernel<adaptive_avg_kernel<1>>()
      .composite<adaptive_avg_pool1d_parts>();
  library.define("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor")
      .shape<adaptive_avg_shape<Size, 2>, adaptive_avg_shape<SymInt, 2>>()
      .kernel<adaptive_avg_kernel<2>>()
      .composite<adaptive_avg_pool_parts<2>>()
      .is(Trait::kAnyLayout)
      .work<reduction_work>();
  library.define("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor")
      .shape<adaptive_avg_shape<Size, 2>, adaptive_avg_shape<SymInt, 2>>()
      .kernel<adaptive_avg_kernel<2>>()
      .is(Trait::kAnyLayout)
      .work<reduction_work>();
  library.define("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")
      .shape<adaptive_avg_shape<Size, 3>, adaptive_avg_shape<SymInt, 3>>()
      .kernel<adaptive_avg_kernel<3>>()
      .composite<adaptive_avg_pool_parts<3>>();
  library.define("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")
      .shape<adaptive_avg_shape<Size, 3>, adaptive_avg_shape<SymInt, 3>>()
      .kernel<adaptive_avg_kernel<3>>();
}

}  // namespace flambeau::ops
