#include "flambeau/trace/describe.h"

#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

graph::SymInt Describer::describe(const symbolic::SymInt& number) {
  if (number.is_literal()) return number.literal();
  const symbolic::Expr expr = simplify_(number.expr());
  if (expr.is_integer()) return expr.integer();
  graph::SymInt& known = known_[expr];
  if (known.is_literal()) {
    auto text = std::make_shared<graph::SymExpr>();
    text->text = symbolic::to_srepr(expr);
    if (const std::optional<int64_t> hint = hint_(expr)) text->hint = *hint;
    known = graph::SymInt(std::move(text));
  }
  return known;
}

graph::TensorMeta Describer::describe(const Tensor& tensor) {
  graph::TensorMeta meta;
  meta.dtype = tensor.dtype();
  meta.requires_grad = tensor.requires_grad();
  meta.device = graph::DeviceSpec::of(tensor.device());
  if (const SymbolicGeometry* const geometry = tensor.symbolic_geometry()) {
    for (const symbolic::SymInt& size : geometry->sizes) meta.sizes.push_back(describe(size));
    for (const symbolic::SymInt& stride : geometry->strides) meta.strides.push_back(describe(stride));
    meta.storage_offset = describe(geometry->offset);
  } else {
    for (const int64_t size : tensor.sizes()) meta.sizes.emplace_back(size);
    for (const int64_t stride : tensor.strides()) meta.strides.emplace_back(stride);
    meta.storage_offset = tensor.offset();
  }
  return meta;
}

}  // namespace flambeau::trace
