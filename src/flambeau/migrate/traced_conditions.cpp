// What a traced script asks of numbers from data, and where.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/migrate/data_numbers.h"
#include "flambeau/migrate/traced_calls.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::migration {

bool is_from_data(const SymInt& number) {
  if (number.is_literal()) return false;
  return std::ranges::any_of(symbolic::free_symbols(number.expr()),
                             [](const symbolic::Expr& symbol) { return symbol.name().starts_with('u'); });
}

Error TracedCalls::located(const Error& error) const {
  if (machine == nullptr) return error;
  return interpreter::ScriptError(error, {}, machine->where());
}

void TracedCalls::note_condition(const Tensor& flag, const symbolic::Expr& condition) {
  conditions_.insert_or_assign(flag.storage().get(), std::pair(flag.storage(), condition));
}

std::optional<symbolic::Expr> TracedCalls::condition_of(const Tensor& flag) const {
  const auto found = conditions_.find(flag.storage().get());
  if (found == conditions_.end()) return {};
  return found->second.second;
}

// The same with tensors in the place of numbers that data decides.
const ops::Operator& TracedCalls::without_data_numbers(const ops::Operator& op,
                                                       std::vector<Value>& arguments) {
  for (size_t i = 0; i < arguments.size() && i < op.schema.arguments.size(); ++i) {
    const Type& type = op.schema.arguments[i].type.without_optional();
    if (!type.is(TypeKind::kNumber) || !arguments[i].is_tensor()) continue;
    const ops::Operator* const other = with_tensor_number(nn::current().library(), op, arguments);
    if (other != nullptr) return *other;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} takes a number for '{}', which depends on the data of the inputs", op.name(),
                            op.schema.arguments[i].name),
                "compute with tensors: multiply, add or choose by torch.where");
  }
  return op;
}

// ---- what a graph inside writes to tensors from outside

void TracedCalls::require_fresh(const Tensor& tensor) const {
  const auto found = bases_.find(tensor.storage().get());
  if (found == bases_.end()) return;
  const auto is_base = [&](const Tensor& own) { return own.storage() == found->second.root; };
  if (std::ranges::none_of(outer_writes->own, is_base) || !control_flow().is_from_outside(tensor)) return;
  throw Error(ErrorCode::kUnsupported,
              "a part of a tensor is used that was taken before a branch or loop that writes to the tensor",
              "take the part where it is used, inside of the branch or loop");
}

void TracedCalls::check_outer_writes(const ops::Operator& op, std::span<const Value> arguments) {
  if (outer_writes == nullptr) return;
  const auto visit = [](const Value& value, auto&& see) {
    if (const Tensor* const tensor = value.get_if<Tensor>(); tensor != nullptr && tensor->defined())
      see(*tensor);
    if (const TensorList* const tensors = value.get_if<TensorList>()) {
      for (const Tensor& tensor : *tensors)
        if (tensor.defined()) see(tensor);
    }
  };
  for (size_t i = 0; i < arguments.size() && i < op.schema.arguments.size(); ++i) {
    visit(arguments[i], [&](const Tensor& tensor) {
      if (tensor.storage() == nullptr) return;
      require_fresh(tensor);
      if (!op.schema.arguments[i].is_written()) return;
      const auto view = bases_.find(tensor.storage().get());
      const Tensor& base = view == bases_.end() ? tensor : view->second.base;
      if (!control_flow().is_from_outside(base)) return;
      outer_writes->found.push_back(base);
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("{} writes to a tensor that comes from outside of the branch or loop", op.name()),
          "use the operator that gives a new tensor, and give that back");
    });
  }
}

}  // namespace flambeau::migration
