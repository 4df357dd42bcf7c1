#include "flambeau/ops/call.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/variants.h"

namespace flambeau::ops {
namespace {

const Tensor& first_tensor(std::span<const Value> arguments) {
  for (const Value& argument : arguments) {
    if (argument.is_tensor()) return argument.tensor();
  }
  throw Error(ErrorCode::kInternal, "a view without a tensor to view");
}

std::vector<Value> box(const Operator& op, TensorList tensors) {
  std::vector<Value> results;
  if (op.returns_list()) {
    results.emplace_back(std::move(tensors));
    return results;
  }
  results.reserve(tensors.size());
  for (Tensor& tensor : tensors) results.emplace_back(std::move(tensor));
  return results;
}

std::vector<Value> run_kernel(Context& context, const Operator& op, std::span<const Value> arguments) {
  TensorList outputs;
  bool has_elements = false;
  for (const Info<int64_t>& info : op.shape(arguments)) {
    outputs.push_back(context.allocate(info));
    has_elements = has_elements || outputs.back().element_count() > 0;
  }
  if (has_elements && !outputs[0].is_meta()) op.kernel(context, arguments, outputs);
  return box(op, std::move(outputs));
}

std::vector<Value> run_view(const Operator& op, std::span<const Value> arguments) {
  const Tensor& base = first_tensor(arguments);
  const auto view = [&](Info<int64_t>& info) {
    return base.with_geometry({std::move(info.sizes), std::move(info.strides), info.offset}, info.dtype);
  };
  Infos<int64_t> infos = op.shape(arguments);
  if (infos.size() == 1 && !op.returns_list()) {
    std::vector<Value> result;
    result.emplace_back(view(infos[0]));
    return result;
  }
  TensorList views;
  views.reserve(infos.size());
  for (Info<int64_t>& info : infos) views.push_back(view(info));
  return box(op, std::move(views));
}

}  // namespace

bool Operator::returns_list() const {
  return schema.returns.size() == 1 && schema.returns[0].type.is(TypeKind::kList);
}

std::vector<Value> execute(Context& context, const Operator& op, std::span<const Value> arguments) {
  switch (op.kind) {
    case Kind::kKernel:
      return run_kernel(context, op, arguments);
    case Kind::kView:
      return run_view(op, arguments);
    case Kind::kFunction:
      return op.function != nullptr ? op.function(context, arguments) : op.user_function(context, arguments);
    case Kind::kDecomposition:
      return op.decomposition(context, arguments);
    case Kind::kInPlace:
    case Kind::kOut:
    case Kind::kViewCopy:
      return execute_variant(context, op, arguments);
  }
  throw Error(ErrorCode::kInternal, "an operator of no kind");
}

std::vector<Value> call(Context& context, const Operator& op, std::span<const Value> arguments) {
  context.step();
  try {
    return context.interceptor != nullptr ? context.interceptor->call(context, op, arguments)
                                          : execute(context, op, arguments);
  } catch (Error& error) {
    // The innermost operator is the one to name: those around it are its decomposition's business.
    if (error.locations().empty()) error.add_location("operator", op.name());
    throw;
  }
}

}  // namespace flambeau::ops
