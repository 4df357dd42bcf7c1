// bilinear: out[b, o] = sum over i, j of input1[b, i] * weight[o, i, j] * input2[b, j] + bias[o]; and what it
// is made of, the sum over some dimensions of the product of any three tensors.
#include <fmt/format.h>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> bilinear_shape(const Info<N>& input1, const Info<N>& input2, const Info<N>& weight,
                       const Info<N>* bias) {
  require(input1.dim() == input2.dim() && input1.dim() > 0, "bilinear(): input dimensions do not match");
  require(weight.dim() == 3, "bilinear(): the weight must have 3 dimensions");
  ShortList<N> sizes;
  for (size_t d = 0; d + 1 < input1.dim(); ++d) {
    require(input1.sizes[d] == input2.sizes[d], "bilinear(): input batch dimensions do not match");
    sizes.push_back(input1.sizes[d]);
  }
  require(input1.sizes[input1.dim() - 1] == weight.sizes[1],
          "bilinear(): input1 size does not match weight size");
  require(input2.sizes[input2.dim() - 1] == weight.sizes[2],
          "bilinear(): input2 size does not match weight size");
  require(bias == nullptr || bias->dim() == 1 ? bias == nullptr || bias->sizes[0] == weight.sizes[0] : false,
          "bilinear(): bias size does not match weight size");
  for (const Info<N>* const other : {&input2, &weight, bias}) {
    if (other == nullptr || other->dtype == input1.dtype) continue;
    fail_argument(
        fmt::format("All tensors must have the same dtype, got input1: {}, input2: {}, weight: {}{}",
                    dtype_name(input1.dtype), dtype_name(input2.dtype), dtype_name(weight.dtype),
                    bias == nullptr ? "" : fmt::format(", bias: {}", dtype_name(bias->dtype))));
  }
  sizes.push_back(weight.sizes[0]);
  return contiguous<N>(input1.dtype, std::move(sizes), input1.device);
}

void bilinear_kernel(Context& context, const Tensor& input1, const Tensor& input2, const Tensor& weight,
                     const Tensor* bias, Tensor& out) {
  require_product_type("bilinear", out.dtype());
  const int64_t outs = weight.sizes()[0];
  const int64_t from1 = weight.sizes()[1];
  const int64_t from2 = weight.sizes()[2];
  const int64_t batch = out.element_count() / outs;
  const Tensor first = packed(context, input1);
  const Tensor second = packed(context, input2);
  // partial[o, b, j] = sum over i of input1[b, i] * weight[o, i, j].
  const Tensor partial = context.allocate(out.dtype(), std::array<int64_t, 3>{outs, batch, from2});
  multiply(context, first.with_geometry({{batch, from1}, {from1, 1}, first.offset()}), weight, partial);
  const Tensor left =
      partial.with_geometry({{batch, outs, from2}, {from2, batch * from2, 1}, partial.offset()});
  const Tensor right = second.with_geometry({{batch, from2, 1}, {from2, 1, 1}, second.offset()});
  Addend addend;
  Tensor column;
  if (bias != nullptr) {
    column = unsqueezed(*bias, 1);
    addend.tensor = &column;
  }
  multiply(context, left, right, out.with_geometry({{batch, outs, 1}, {outs, 1, 1}, out.offset()}), addend);
}

Tensor bilinear_parts(Context& c, const Tensor& input1, const Tensor& input2, const Tensor& weight,
                      const Tensor* bias) {
  const auto rows_of = [&](const Tensor& tensor) {
    return call(c, "aten::reshape", tensor, SymIntList{SymInt(-1), size_of(tensor, -1)});
  };
  const Tensor left = rows_of(input1);
  const Tensor right = rows_of(input2);
  const Tensor product =
      call(c, "aten::_trilinear", left, weight, right, Dims{1, 3}, Dims{0}, Dims{1, 2}, Dims{2, 3});
  SymIntList shape = sizes_of(input1);
  shape.back() = size_of(weight, 0);
  const Tensor result = call(c, "aten::reshape", product, shape);
  return bias != nullptr ? parts::add(c, result, *bias) : result;
}

// ---- any three tensors

using Numbers = std::span<const Size>;

bool has_dim(Numbers dims, size_t dim) {
  for (const Size d : dims) {
    if (d.value() == static_cast<int64_t>(dim)) return true;
  }
  return false;
}
// The dimensions of the product that a tensor has, in order; those of `expanded` are new ones of size 1.
std::vector<size_t> own_dims(size_t rank, Numbers expanded) {
  for (const Size d : expanded) {
    require(d >= 0 && d < static_cast<int64_t>(rank + expanded.size()),
            "_trilinear: a dimension is out of range");
  }
  std::vector<size_t> own;
  for (size_t d = 0; d < rank + expanded.size(); ++d) {
    if (!has_dim(expanded, d)) own.push_back(d);
  }
  require(own.size() == rank, "_trilinear: a dimension is given twice");
  return own;
}

template <typename N>
Info<N> trilinear_shape(const Info<N>& i1, const Info<N>& i2, const Info<N>& i3, Numbers expand1,
                        Numbers expand2, Numbers expand3, Numbers sumdim, Size unroll_dim) {
  const size_t rank = i1.dim() + expand1.size();
  require(i2.dim() + expand2.size() == rank && i3.dim() + expand3.size() == rank,
          "_trilinear: the three tensors must have the same number of dimensions");
  require(unroll_dim >= 0 && unroll_dim < static_cast<int64_t>(rank),
          "_trilinear: unroll_dim is out of range");
  ShortList<N> sizes;
  for (size_t d = 0; d < rank; ++d) sizes.push_back(N(1));
  const auto broadcast = [&](const Info<N>& info, Numbers expanded) {
    const std::vector<size_t> own = own_dims(info.dim(), expanded);
    for (size_t d = 0; d < own.size(); ++d) {
      N& size = sizes[own[d]];
      if (size == N(1)) {
        size = info.sizes[d];
      } else {
        require(info.sizes[d] == N(1) || info.sizes[d] == size, "_trilinear: sizes do not match");
      }
    }
  };
  broadcast(i1, expand1);
  broadcast(i2, expand2);
  broadcast(i3, expand3);
  ShortList<N> kept;
  for (size_t d = 0; d < rank; ++d) {
    if (!has_dim(sumdim, d)) kept.push_back(sizes[d]);
  }
  return contiguous<N>(i1.dtype, std::move(kept), i1.device);
}

void trilinear_kernel(Context& context, const Tensor& i1, const Tensor& i2, const Tensor& i3, Numbers expand1,
                      Numbers expand2, Numbers expand3, Numbers sumdim, Size, Tensor& out) {
  require(i1.dtype() == i2.dtype() && i1.dtype() == i3.dtype(),
          "_trilinear: expected three tensors of the same type");
  const size_t rank = i1.dim() + expand1.size();
  require(rank <= 26, "_trilinear: at most 26 dimensions are possible");
  std::string equation;
  std::string seen;
  const auto name_dims = [&](const Tensor& tensor, Numbers expanded) {
    if (!equation.empty()) equation += ',';
    for (const size_t d : own_dims(tensor.dim(), expanded)) equation += static_cast<char>('a' + d);
  };
  name_dims(i1, expand1);
  name_dims(i2, expand2);
  name_dims(i3, expand3);
  // A dimension that none of them has is of size 1: it may be left out.
  for (size_t d = 0; d < rank; ++d) {
    const char letter = static_cast<char>('a' + d);
    if (!has_dim(sumdim, d) && equation.find(letter) != std::string::npos) seen += letter;
  }
  Context inner = context.without_interceptor();
  const Tensor product = call(inner, "aten::einsum", equation + "->" + seen, TensorList{i1, i2, i3});
  copy_into(context, call(inner, "aten::reshape", product, out.sizes()), out);
}

}  // namespace

void define_bilinear(Library& library) {
  library
      .define(
          "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, "
          "int[] sumdim, int unroll_dim=1) -> Tensor")
      .shape<trilinear_shape<Size>, trilinear_shape<SymInt>>()
      .kernel<trilinear_kernel>();
  library.define("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
      .shape<bilinear_shape<Size>, bilinear_shape<SymInt>>()
      .kernel<bilinear_kernel>()
      .composite<bilinear_parts>();
}

}  // namespace flambeau::ops
