// bilinear: out[b, o] = sum over i, j of input1[b, i] * weight[o, i, j] * input2[b, j] + bias[o].
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

}  // namespace

void define_bilinear(Library& library) {
  library.define("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
      .shape<bilinear_shape<Size>, bilinear_shape<SymInt>>()
      .kernel<bilinear_kernel>()
      .composite<bilinear_parts>();
}

}  // namespace flambeau::ops
