// Gradients of views and of what picks elements: the gradient put where the elements came from, among zeros.
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using SymNumbers = std::span<const SymInt>;

Tensor zeros_of(Context& c, SymNumbers sizes, const Tensor& like) {
  return parts::full(c, SymIntList(sizes), 0, like);
}

Tensor select_backward(Context& c, const Tensor& gradient, SymNumbers sizes, Size dim, SymInt index) {
  return call(c, "aten::select_scatter", zeros_of(c, sizes, gradient), gradient, dim, index);
}
Tensor slice_backward(Context& c, const Tensor& gradient, SymNumbers sizes, Size dim, SymInt start,
                      SymInt end, SymInt step) {
  return call(c, "aten::slice_scatter", zeros_of(c, sizes, gradient), gradient, dim, start, end, step);
}
Tensor diagonal_backward(Context& c, const Tensor& gradient, SymNumbers sizes, Size offset, Size dim1,
                         Size dim2) {
  return call(c, "aten::diagonal_scatter", zeros_of(c, sizes, gradient), gradient, offset, dim1, dim2);
}
Tensor trace_backward(Context& c, const Tensor& gradient, SymNumbers sizes) {
  require(sizes.size() == 2, "expected matrix input");
  const SymInt length = min(sizes[0], sizes[1]);
  const Tensor along = call(c, "aten::expand", gradient, SymIntList{length});
  return call(c, "aten::diagonal_scatter", zeros_of(c, sizes, gradient), along);
}

Tensor index_select_backward(Context& c, const Tensor& gradient, SymNumbers sizes, Size dim,
                             const Tensor& index) {
  return call(c, "aten::index_add", zeros_of(c, sizes, gradient), dim, index, gradient);
}
Tensor gather_backward(Context& c, const Tensor& gradient, const Tensor& self, Size dim, const Tensor& index,
                       bool is_sparse) {
  if (is_sparse) {
    throw Error(ErrorCode::kUnsupported, "gather_backward: sparse gradients are not supported",
                "use sparse_grad=False");
  }
  return call(c, "aten::scatter_add", zeros_of(c, sizes_of(self), gradient), dim, index, gradient);
}
Tensor value_selecting_reduction_backward(Context& c, const Tensor& gradient, Size dim, const Tensor& indices,
                                          SymNumbers sizes, bool keepdim) {
  const auto kept = [&](const Tensor& tensor) {
    return keepdim || sizes.empty() ? tensor : call(c, "aten::unsqueeze", tensor, dim);
  };
  return call(c, "aten::scatter.src", zeros_of(c, sizes, gradient), dim, kept(indices), kept(gradient));
}
Tensor cummaxmin_backward(Context& c, const Tensor& gradient, const Tensor& input, const Tensor& indices,
                          Size dim) {
  return call(c, "aten::scatter_add", zeros_of(c, sizes_of(input), input), dim, indices, gradient);
}
Tensor masked_select_backward(Context& c, const Tensor& gradient, const Tensor& input, const Tensor& mask) {
  const Info<SymInt> sizes =
      elementwise_info<SymInt>(input.dtype(), symbolic_info(input), symbolic_info(mask));
  const Tensor whole = zeros_of(c, sizes.sizes, gradient);
  Tensor placed = call(c, "aten::masked_scatter", whole, mask, gradient);
  // What the input was repeated along is added up.
  const int64_t more = rank_of(placed) - rank_of(input);
  Dims repeated;
  for (int64_t d = 0; d < rank_of(placed); ++d) {
    if (d < more || !(size_of(input, d - more) == size_of(placed, d))) repeated.push_back(d);
  }
  if (repeated.empty()) return placed;
  return call(c, "aten::view", call(c, "aten::sum.dim_IntList", placed, repeated, true), sizes_of(input));
}

// The gradient of the elements that were taken, in their order; the others of the source met nothing.
template <typename N>
Info<N> masked_scatter_gradient_shape(const Info<N>& gradient, const Info<N>& mask,
                                      std::span<const N> sizes) {
  broadcast(gradient.sizes, mask.sizes);
  for (const N& size : sizes) {
    if (size < N(0)) fail_argument("masked_scatter_backward: negative size " + number_text(size));
  }
  return contiguous<N>(gradient.dtype, ShortList<N>(sizes), gradient.device);
}
void masked_scatter_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& mask,
                                    std::span<const Size>, Tensor& out) {
  Context inner = context.without_interceptor();
  const Tensor taken = call(inner, "aten::masked_select", gradient, mask);
  const int64_t count = taken.element_count();
  if (count > out.element_count()) {
    fail_argument("masked_scatter_backward: " + std::to_string(count) +
                  " elements were taken, from a source of " + std::to_string(out.element_count()));
  }
  fill(context, out, 0);
  copy_into(context, taken, with_sizes(out, Dims{count}));
}

// ---- of running products, which may hold zeros

template <typename N>
Info<N> cumprod_gradient_shape(const Info<N>& gradient, const Info<N>& input, Size dim,
                               const Info<N>& output) {
  require_same_sizes("cumprod_backward", gradient.sizes, input.sizes);
  require_same_sizes("cumprod_backward", output.sizes, input.sizes);
  wrap_dim(dim, input.dim());
  return contiguous<N>(input.dtype, input.sizes, input.device);
}
template <typename T>
void cumprod_gradient_line(const T* gradient, const T* x, T* to, int64_t length, int64_t step) {
  int64_t zero = 0;
  while (zero < length && x[zero * step] != T(0)) ++zero;
  T product = 1;
  for (int64_t i = 0; i < zero; ++i) {
    product *= x[i * step];
    to[i * step] = gradient[i * step] * product;
  }
  const T before = product;
  T sum = 0;
  for (int64_t i = zero; i-- > 0;) {
    sum += to[i * step];
    to[i * step] = sum / x[i * step];
  }
  if (zero == length) return;
  // At the first zero: what the products would be without it, up to the second.
  T rest = before;
  T at_zero = gradient[zero * step] * rest;
  int64_t i = zero + 1;
  for (; i < length && x[i * step] != T(0); ++i) {
    rest *= x[i * step];
    at_zero += gradient[i * step] * rest;
  }
  to[zero * step] = at_zero;
  for (i = zero + 1; i < length; ++i) to[i * step] = T(0);
}
void cumprod_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& input, Size dim,
                             const Tensor&, Tensor& out) {
  with_floats("cumprod_backward", out.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor x = packed_as(context, input, wide);
    PackedOutput made(context, out, wide);
    const size_t d = wrap_dim(dim, out.dim());
    const int64_t length = out.dim() == 0 ? 1 : out.sizes()[d];
    const int64_t inner = out.dim() == 0 ? 1 : product_of(out.sizes(), d + 1, out.dim());
    T* const to = made.data<T>();
    for_each_part(context, out.element_count() / length, length, [&](int64_t line) {
      const int64_t at = line / inner * length * inner + line % inner;
      cumprod_gradient_line(g.data<T>() + at, x.data<T>() + at, to + at, length, inner);
    });
    made.finish();
  });
}

// The transposed product with the grid that an identity gives, with ones beside it.
Tensor affine_grid_backward(Context& c, const Tensor& gradient, SymNumbers size, bool align_corners) {
  require(size.size() == 4 || size.size() == 5,
          "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  const SymInt& batch = size[0];
  SymInt places = 1;
  for (size_t d = 2; d < size.size(); ++d) places *= size[d];
  const Tensor eye = call_with(c, "aten::eye.m", {dims, dims + 1},
                               {{"dtype", gradient.dtype()}, {"device", gradient.device()}});
  const Tensor each = call(c, "aten::expand", eye, SymIntList{batch, SymInt(dims), SymInt(dims + 1)});
  const Tensor grid = call(c, "aten::affine_grid_generator", each, SymIntList(size), align_corners);
  const Tensor flat = call(c, "aten::reshape", grid, SymIntList{batch, places, SymInt(dims)});
  const Tensor ones = parts::full(c, {batch, places, SymInt(1)}, 1, gradient);
  const Tensor base = call(c, "aten::cat", TensorList{flat, ones}, 2);
  const Tensor along = call(c, "aten::reshape", gradient, SymIntList{batch, places, SymInt(dims)});
  const Tensor product = call(c, "aten::bmm", call(c, "aten::transpose.int", base, 1, 2), along);
  return call(c, "aten::transpose.int", product, 1, 2);
}

}  // namespace

void define_view_backward(Library& library) {
  library
      .define(
          "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor")
      .core_decomposition<select_backward>();
  library
      .define(
          "aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, "
          "SymInt step) -> Tensor")
      .core_decomposition<slice_backward>();
  library
      .define(
          "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) "
          "-> "
          "Tensor")
      .core_decomposition<diagonal_backward>();
  library.define("aten::trace_backward(Tensor grad, SymInt[] sizes) -> Tensor").composite<trace_backward>();
  library
      .define(
          "aten::index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> Tensor")
      .composite<index_select_backward>();
  library
      .define(
          "aten::gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) -> "
          "Tensor")
      .composite<gather_backward>();
  library
      .define(
          "aten::value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, "
          "bool "
          "keepdim) -> Tensor")
      .composite<value_selecting_reduction_backward>();
  library.define("aten::cummaxmin_backward(Tensor grad, Tensor input, Tensor indices, int dim) -> Tensor")
      .composite<cummaxmin_backward>();
  library.define("aten::masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor")
      .composite<masked_select_backward>();
  library.define("aten::masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor")
      .shape<masked_scatter_gradient_shape<Size>, masked_scatter_gradient_shape<SymInt>>()
      .kernel<masked_scatter_gradient_kernel>();
  library.define("aten::cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor")
      .shape<cumprod_gradient_shape<Size>, cumprod_gradient_shape<SymInt>>()
      .kernel<cumprod_gradient_kernel>();
  library
      .define(
          "aten::affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor")
      .composite<affine_grid_backward>();
}

}  // namespace flambeau::ops
