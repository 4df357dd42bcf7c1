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
  const SymbolicGeometry shape = shape_of(tensor);
  for (const symbolic::SymInt& size : shape.sizes) meta.sizes.push_back(describe(size));
  for (const symbolic::SymInt& stride : shape.strides) meta.strides.push_back(describe(stride));
  meta.storage_offset = describe(shape.offset);
  return meta;
}

}  // namespace flambeau::trace
