#include "flambeau/ops/mechanism/call.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/mechanism/sparse_calls.h"
#include "flambeau/ops/mechanism/variants.h"
#include "flambeau/ops/view/rules.h"

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
  for (const Info<Size>& info : op.shape(arguments)) {
    outputs.push_back(context.allocate(info));
    has_elements = has_elements || outputs.back().element_count() > 0;
  }
  if (has_elements && !outputs[0].is_meta()) op.kernel(context, arguments, outputs);
  return box(op, std::move(outputs));
}

std::vector<Value> run_view(const Operator& op, std::span<const Value> arguments) {
  const Tensor& base = first_tensor(arguments);
  Infos<Size> infos = op.shape(arguments);
  if (infos.size() == 1 && !op.returns_list()) {
    std::vector<Value> result;
    result.emplace_back(viewed(base, infos[0]));
    return result;
  }
  TensorList views;
  views.reserve(infos.size());
  for (const Info<Size>& info : infos) views.push_back(viewed(base, info));
  return box(op, std::move(views));
}

}  // namespace

bool Operator::returns_list() const {
  return schema.returns.size() == 1 && schema.returns[0].type.is(TypeKind::kList);
}

void fail_memory() {
  throw Error(ErrorCode::kLimit, "there is no memory for what the operator computes",
              "free some memory, or give smaller sizes");
}

std::vector<Value> execute(Context& context, const Operator& op, std::span<const Value> arguments) {
  if (has_sparse(arguments)) [[unlikely]]
    return execute_sparse(context, op, arguments);
  if (takes_quantized(arguments)) return execute_quantized(context, op, arguments);
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

std::vector<Value> take_apart(Context& context, const Operator& op, std::span<const Value> arguments) {
  if (!op.alias.empty()) {
    const Operator& same = context.library().get(op.alias);
    return call(context, same, bind_arguments(same.schema, arguments));
  }
  return op.decomposition(context, arguments);
}

std::vector<Value> call(Context& context, const Operator& op, std::span<const Value> arguments) {
  context.step();
  return at_operator([&] { return op.name(); },
                     [&] {
                       if (context.interceptor == nullptr) return execute(context, op, arguments);
                       refuse_sparse(arguments);
                       return context.interceptor->call(context, op, arguments);
                     });
}

std::vector<Value> call_named(Context& context, std::string_view name, std::span<const Value> positional,
                              const KeywordArguments& keywords) {
  const Operator& op = context.library().get(name);
  return call(context, op, bind_arguments(op.schema, positional, keywords));
}

}  // namespace flambeau::ops
