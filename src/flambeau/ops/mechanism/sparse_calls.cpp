#include "flambeau/ops/mechanism/sparse_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/variants.h"

namespace flambeau::ops {
namespace {

const Tensor* sparse_one(const Value& argument) {
  if (const Tensor* const tensor = argument.get_if<Tensor>()) return is_sparse(*tensor) ? tensor : nullptr;
  if (const auto* const list = argument.get_if<TensorList>()) {
    const auto found = std::ranges::find_if(*list, is_sparse);
    return found == list->end() ? nullptr : &*found;
  }
  return nullptr;
}

[[noreturn]] void refuse(const Operator& op, std::span<const Value> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* const tensor = sparse_one(arguments[i]);
    if (tensor == nullptr) continue;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} takes no sparse tensor: argument '{}' is {}", op.name(),
                            op.schema.arguments[i].name, tensor->summary()),
                "make it dense with to_dense() first");
  }
  throw Error(ErrorCode::kInternal, "no argument is sparse");
}

}  // namespace

bool has_sparse(std::span<const Value> arguments) {
  return std::ranges::any_of(arguments,
                             [](const Value& argument) { return sparse_one(argument) != nullptr; });
}

void refuse_sparse(std::span<const Value> arguments) {
  if (!has_sparse(arguments)) return;
  throw Error(ErrorCode::kUnsupported, "calls with sparse tensors are neither traced nor planned",
              "make them dense with to_dense() first");
}

std::vector<Value> execute_sparse(Context& context, const Operator& op, std::span<const Value> arguments) {
  if (op.sparse != nullptr) return op.sparse(context, op, arguments);
  if (op.user_function != nullptr) return op.user_function(context, arguments);
  if (!op.alias.empty()) return take_apart(context, op, arguments);
  if (op.base != nullptr) return execute_variant(context, op, arguments);
  refuse(op, arguments);
}

Tensor sparse_written(Context& context, const Tensor& result, const Tensor& to) {
  if (result.layout() != to.layout()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a result of layout {} cannot be written to a tensor of layout {}",
                            layout_name(result.layout()), layout_name(to.layout())));
  }
  SparseParts parts = *result.sparse_parts();
  const SparseParts& own = *to.sparse_parts();
  const auto is_same = [](const Tensor& a, const Tensor& b) {
    return !a.defined() || (b.defined() && a.storage() == b.storage() && a.offset() == b.offset() &&
                            a.sizes() == b.sizes() && a.strides() == b.strides());
  };
  if (is_same(parts.indices, own.indices) && is_same(parts.compressed_indices, own.compressed_indices) &&
      is_same(parts.plain_indices, own.plain_indices) && parts.values.sizes() == own.values.sizes()) {
    copy_into(context, parts.values, own.values);
    return to;
  }
  const Tensor values = context.allocate(to.dtype(), parts.values.sizes());
  copy_into(context, parts.values, values);
  parts.values = values;
  return Tensor::sparse(to.layout(), result.sizes(), std::move(parts));
}

}  // namespace flambeau::ops
