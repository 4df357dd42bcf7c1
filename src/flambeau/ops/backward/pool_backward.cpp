// Gradients of pooling: each goes to the element that was largest, or in equal shares to all of a window.
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/pool/pooling.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;
constexpr Size kOneStep[] = {1};

template <typename N>
Info<N> image_info(const Info<N>& self, bool keeps_order) {
  Info<N> info = contiguous<N>(self.dtype, self.sizes, self.device);
  if (keeps_order && suggested_format(self) != MemoryFormat::kContiguous) {
    info.strides = channels_last_strides(info.sizes);
  }
  return info;
}

// ---- of the largest

template <typename N>
Info<N> max_gradient_info(const Info<N>& gradient, const Info<N>& self, const Info<N>& indices, size_t dims,
                          bool keeps_order) {
  check_pool_input(self, dims);
  require_same_sizes("max_pool_backward", gradient.sizes, indices.sizes);
  require(gradient.dim() == self.dim(), "max_pool_backward: expected a gradient of the input's dimensions");
  for (size_t d = 0; d + dims < self.dim(); ++d) {
    require(gradient.sizes[d] == self.sizes[d], "max_pool_backward: expected a gradient for each channel");
  }
  if (gradient.dtype != self.dtype) {
    fail_argument("expected dtype " + std::string(dtype_name(self.dtype)) +
                  " for `grad_output` but got dtype " + std::string(dtype_name(gradient.dtype)));
  }
  return image_info(self, keeps_order);
}

void scatter_planes(Context& context, const Tensor& gradient, const Tensor& indices, size_t dims,
                    Tensor& out) {
  with_floats("max_pool_backward", out.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor places = packed_indices(context, indices);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    const size_t first = out.dim() - dims;
    const int64_t planes = product_of(out.sizes(), 0, first);
    const int64_t size = product_of(out.sizes(), first, out.dim());
    const int64_t pooled = product_of(g.sizes(), first, g.dim());
    for_each_part(context, planes, pooled * 2, [&](int64_t plane) {
      const T* const from = g.data<T>() + plane * pooled;
      const int64_t* const place = places.data<int64_t>() + plane * pooled;
      for (int64_t i = 0; i < pooled; ++i) {
        if (place[i] < 0 || place[i] >= size) fail_index(place[i], first, size);
        to[plane * size + place[i]] += from[i];
      }
    });
    made.finish();
  });
}

template <typename N, size_t kDims>
Info<N> max_pool_gradient_shape(const Info<N>& gradient, const Info<N>& self, Numbers kernel, Numbers stride,
                                Numbers padding, Numbers dilation, bool ceil_mode, const Info<N>& indices) {
  const Info<N> pooled = plain_pool_info(
      self, kDims, pool_arguments(kDims, kernel, stride, padding, dilation, ceil_mode), false);
  require_same_sizes("max_pool_backward", gradient.sizes, pooled.sizes);
  return max_gradient_info(gradient, self, indices, kDims, true);
}
template <size_t kDims>
void max_pool_gradient_kernel(Context& context, const Tensor& gradient, const Tensor&, Numbers, Numbers,
                              Numbers, Numbers, bool, const Tensor& indices, Tensor& out) {
  scatter_planes(context, gradient, indices, kDims, out);
}

template <typename N, size_t kDims>
Info<N> adaptive_max_gradient_shape(const Info<N>& gradient, const Info<N>& self, const Info<N>& indices) {
  return max_gradient_info(gradient, self, indices, kDims, kDims == 2);
}
template <size_t kDims>
void adaptive_max_gradient_kernel(Context& context, const Tensor& gradient, const Tensor&,
                                  const Tensor& indices, Tensor& out) {
  scatter_planes(context, gradient, indices, kDims, out);
}

template <typename N, size_t kDims>
Info<N> fractional_gradient_shape(const Info<N>& gradient, const Info<N>& self, Numbers, Numbers,
                                  const Info<N>& indices) {
  return max_gradient_info(gradient, self, indices, kDims, false);
}
template <size_t kDims>
void fractional_gradient_kernel(Context& context, const Tensor& gradient, const Tensor&, Numbers, Numbers,
                                const Tensor& indices, Tensor& out) {
  scatter_planes(context, gradient, indices, kDims, out);
}

// ---- of the mean

void spread_windows(Context& context, const PoolShape& shape, const Tensor& gradient, Tensor& out) {
  with_floats("avg_pool_backward", out.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    const auto& [deep, high, across] = shape.axes;
    const int64_t pooled = deep.out * high.out * across.out;
    const int64_t size = deep.in * high.in * across.in;
    int64_t window = 1;
    for (const WindowAxis& axis : shape.axes) window *= axis.out == 0 ? 1 : axis.end[0] - axis.begin[0] + 1;
    for_each_part(context, shape.batch * shape.channels, pooled * std::max<int64_t>(window, 1),
                  [&](int64_t plane) {
                    const T* from = g.data<T>() + plane * pooled;
                    T* const image = to + plane * size;
                    for (int64_t z = 0; z < deep.out; ++z) {
                      for (int64_t y = 0; y < high.out; ++y) {
                        for (int64_t x = 0; x < across.out; ++x, ++from) {
                          int64_t divisor = shape.divisor;
                          if (divisor == 0) {
                            divisor = shape.includes_padding
                                          ? deep.extent[z] * high.extent[y] * across.extent[x]
                                          : (deep.end[z] - deep.begin[z]) * (high.end[y] - high.begin[y]) *
                                                (across.end[x] - across.begin[x]);
                          }
                          const T share = *from / static_cast<T>(divisor);
                          for (int64_t a = deep.begin[z]; a < deep.end[z]; ++a) {
                            for (int64_t b = high.begin[y]; b < high.end[y]; ++b) {
                              T* const row = image + (a * high.in + b) * across.in;
                              for (int64_t k = across.begin[x]; k < across.end[x]; ++k) row[k] += share;
                            }
                          }
                        }
                      }
                    }
                  });
    made.finish();
  });
}

template <typename N, size_t kDims>
Info<N> avg_pool_gradient_shape(const Info<N>& gradient, const Info<N>& self, Numbers kernel, Numbers stride,
                                Numbers padding, bool ceil_mode, bool, std::optional<Size> divisor) {
  require(!divisor || *divisor != 0, "divisor must be not zero");
  const Info<N> pooled = plain_pool_info(
      self, kDims, pool_arguments(kDims, kernel, stride, padding, kOneStep, ceil_mode), false);
  require_same_sizes("avg_pool_backward", gradient.sizes, pooled.sizes);
  return image_info(self, kDims == 2);
}
template <size_t kDims>
void avg_pool_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& self, Numbers kernel,
                              Numbers stride, Numbers padding, bool ceil_mode, bool includes_padding,
                              std::optional<Size> divisor, Tensor& out) {
  Windows windows =
      plain_windows(self, gradient, pool_arguments(kDims, kernel, stride, padding, kOneStep, ceil_mode));
  Size largest = 1;  // window, which is divided by
  for (const WindowAxis& axis : windows.shape.axes) {
    largest *= *std::max_element(axis.extent, axis.extent + axis.out);
  }
  windows.shape.includes_padding = includes_padding;
  windows.shape.divisor = divisor.value_or(0);
  spread_windows(context, windows.shape, gradient, out);
}

template <typename N, size_t kDims>
Info<N> adaptive_avg_gradient_shape(const Info<N>& gradient, const Info<N>& self) {
  check_pool_input(self, kDims);
  require(gradient.dim() == self.dim(),
          "adaptive_avg_pool_backward: expected a gradient of the input's dimensions");
  for (size_t d = 0; d < self.dim(); ++d) {
    require(
        d + kDims < self.dim() ? gradient.sizes[d] == self.sizes[d] : !(gradient.sizes[d] == N(0)),
        "adaptive_avg_pool_backward: Expected grad_output to have non-zero size for non-batch dimensions, "
        "and as many channels as the input");
  }
  return image_info(self, kDims == 2);
}
template <size_t kDims>
void adaptive_avg_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& self, Tensor& out) {
  Windows windows = adaptive_windows(self, gradient, kDims);
  windows.shape.includes_padding = false;
  windows.shape.divisor = 0;
  spread_windows(context, windows.shape, gradient, out);
}

template <size_t kDims>
void define_gradients(Library& library, std::string_view max, std::string_view adaptive_max,
                      std::string_view fractional, std::string_view avg, std::string_view adaptive_avg) {
  library.define(max)
      .template shape<max_pool_gradient_shape<Size, kDims>, max_pool_gradient_shape<SymInt, kDims>>()
      .template kernel<max_pool_gradient_kernel<kDims>>();
  library.define(adaptive_max)
      .template shape<adaptive_max_gradient_shape<Size, kDims>, adaptive_max_gradient_shape<SymInt, kDims>>()
      .template kernel<adaptive_max_gradient_kernel<kDims>>();
  library.define(fractional)
      .template shape<fractional_gradient_shape<Size, kDims>, fractional_gradient_shape<SymInt, kDims>>()
      .template kernel<fractional_gradient_kernel<kDims>>();
  library.define(avg)
      .template shape<avg_pool_gradient_shape<Size, kDims>, avg_pool_gradient_shape<SymInt, kDims>>()
      .template kernel<avg_pool_gradient_kernel<kDims>>();
  library.define(adaptive_avg)
      .template shape<adaptive_avg_gradient_shape<Size, kDims>, adaptive_avg_gradient_shape<SymInt, kDims>>()
      .template kernel<adaptive_avg_gradient_kernel<kDims>>();
}

}  // namespace

void define_pool_backward(Library& library) {
#define FLAMBEAU_POOL_GRADIENTS(n)                                                                           \
  define_gradients<n>(library,                                                                               \
                      "aten::max_pool" #n "d_with_indices_backward(Tensor grad_output, Tensor self, int[" #n \
                      "] kernel_size, int[" #n "] stride, int[" #n "] padding, int[" #n                      \
                      "] dilation, bool ceil_mode, Tensor indices) -> Tensor",                               \
                      "aten::adaptive_max_pool" #n                                                           \
                      "d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",               \
                      "aten::fractional_max_pool" #n "d_backward(Tensor grad_output, Tensor self, int[" #n   \
                      "] kernel_size, int[" #n "] output_size, Tensor indices) -> Tensor",                   \
                      "aten::avg_pool" #n "d_backward(Tensor grad_output, Tensor self, int[" #n              \
                      "] kernel_size, int[" #n "] stride, int[" #n                                           \
                      "] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", \
                      "aten::_adaptive_avg_pool" #n "d_backward(Tensor grad_output, Tensor self) -> Tensor")
  FLAMBEAU_POOL_GRADIENTS(2);
  FLAMBEAU_POOL_GRADIENTS(3);
#undef FLAMBEAU_POOL_GRADIENTS
}

}  // namespace flambeau::ops
