// What a traced script asks of numbers from data, and where.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/migrate/data_numbers.h"
#include "flambeau/migrate/traced_calls.h"
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

}  // namespace flambeau::migration
