// The largest element of windows, with and without its index.
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/pool/pooling.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;

template <typename N, size_t kDims>
Info<N> max_pool_shape(const Info<N>& self, Numbers kernel_size, Numbers stride, Numbers padding,
                       Numbers dilation, bool ceil_mode) {
  return plain_pool_info(self, kDims,
                         pool_arguments(kDims, kernel_size, stride, padding, dilation, ceil_mode), kDims > 1);
}

template <typename N, size_t kDims>
std::tuple<Info<N>, Info<N>> max_pool_indices_shape(const Info<N>& self, Numbers kernel_size, Numbers stride,
                                                    Numbers padding, Numbers dilation, bool ceil_mode) {
  Info<N> values = max_pool_shape<N, kDims>(self, kernel_size, stride, padding, dilation, ceil_mode);
  Info<N> indices = values;
  indices.dtype = DType::kInt64;
  return {std::move(values), std::move(indices)};
}

template <size_t kDims>
void check_type(DType dtype) {
  const bool is_plain = is_floating(dtype) || (kDims > 1 && is_integral(dtype));
  if (!is_plain || dtype == DType::kBool) {
    fail_dtype(kDims == 1 ? "max_pool1d_impl" : kDims == 2 ? "max_pool2d" : "max_pool3d", dtype);
  }
}

template <size_t kDims>
void max_pool_indices_kernel(Context& context, const Tensor& self, Numbers kernel_size, Numbers stride,
                             Numbers padding, Numbers dilation, bool ceil_mode, Tensor& values,
                             Tensor& indices) {
  check_type<kDims == 1 ? 2 : kDims>(self.dtype());
  const Windows windows =
      plain_windows(self, values, pool_arguments(kDims, kernel_size, stride, padding, dilation, ceil_mode));
  pool_max(context, windows.shape, self, values, &indices);
}

template <size_t kDims>
void max_pool_kernel(Context& context, const Tensor& self, Numbers kernel_size, Numbers stride,
                     Numbers padding, Numbers dilation, bool ceil_mode, Tensor& out) {
  check_type<kDims>(self.dtype());
  const Windows windows =
      plain_windows(self, out, pool_arguments(kDims, kernel_size, stride, padding, dilation, ceil_mode));
  pool_max(context, windows.shape, self, out, nullptr);
}

template <typename N, size_t kDims>
std::tuple<Info<N>, Info<N>> adaptive_max_shape(const Info<N>& self, Numbers output_size) {
  check_pool_input(self, kDims);
  require(output_size.size() == kDims, "adaptive_max_pool: one size is needed for each dimension");
  ShortList<N> spatial;
  for (const int64_t size : output_size) spatial.push_back(size);
  Info<N> values = pooled_info(self, spatial, kDims == 2);
  Info<N> indices = values;
  indices.dtype = DType::kInt64;
  return {std::move(values), std::move(indices)};
}

template <size_t kDims>
void adaptive_max_kernel(Context& context, const Tensor& self, Numbers, Tensor& values, Tensor& indices) {
  if (!is_floating(self.dtype())) {
    fail_dtype(kDims == 3 ? "adaptive_max_pool3d" : "adaptive_max_pool2d", self.dtype());
  }
  pool_max(context, adaptive_windows(self, values, kDims).shape, self, values, &indices);
}

// ---- as other operators

template <size_t kDims>
Tensor max_pool_parts(Context& c, const Tensor& self, std::span<const Size> kernel,
                      std::span<const Size> stride, std::span<const Size> padding,
                      std::span<const Size> dilation, bool ceil_mode) {
  if (kDims > 1)
    return parts::first_of(c, kDims == 2 ? "aten::max_pool2d_with_indices" : "aten::max_pool3d_with_indices",
                           self, kernel, stride, padding, dilation, ceil_mode);
  const Tensor output = call(c, "aten::max_pool2d", call(c, "aten::unsqueeze", self, -2), with_row(kernel, 1),
                             with_row(stride.empty() ? kernel : stride, 1), with_row(padding, 0),
                             with_row(dilation, 1), ceil_mode);
  return call(c, "aten::squeeze.dim", output, -2);
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d_parts(Context& c, const Tensor& self,
                                                     std::span<const Size> output_size) {
  const auto [values, indices] = call<std::tuple<Tensor, Tensor>>(
      c, "aten::adaptive_max_pool2d", call(c, "aten::unsqueeze", self, -2), with_row(output_size, 1));
  const Tensor lowered = call(c, "aten::squeeze.dim", values, -2);
  return {lowered, call(c, "aten::squeeze.dim", indices, -2)};
}

template <size_t kDims>
void define_dims(Library& library, std::string_view plain, std::string_view indexed,
                 std::string_view adaptive) {
  library.define(plain)
      .template shape<max_pool_shape<Size, kDims>, max_pool_shape<SymInt, kDims>>()
      .template kernel<max_pool_kernel<kDims>>()
      .template composite<max_pool_parts<kDims>>()
      .is(Trait::kAnyLayout, kDims == 2)
      .template work<reduction_work>();
  library.define(indexed)
      .template shape<max_pool_indices_shape<Size, kDims>, max_pool_indices_shape<SymInt, kDims>>()
      .template kernel<max_pool_indices_kernel<kDims>>();
  Definition form = library.define(adaptive);
  form.template shape<adaptive_max_shape<Size, kDims>, adaptive_max_shape<SymInt, kDims>>()
      .template kernel<adaptive_max_kernel<kDims>>();
  if constexpr (kDims == 1) form.template composite<adaptive_max_pool1d_parts>();
}

}  // namespace

void define_max_pool(Library& library) {
  define_dims<1>(library,
                 "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
                 "int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
                 "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
                 "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
                 "aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)");
  define_dims<2>(library,
                 "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
                 "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
                 "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
                 "padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
                 "aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)");
  define_dims<3>(library,
                 "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
                 "int[3] dilation=1, bool ceil_mode=False) -> Tensor",
                 "aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
                 "padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
                 "aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)");
}

}  // namespace flambeau::ops
