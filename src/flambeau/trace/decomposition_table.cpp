#include "flambeau/trace/decomposition_table.h"

#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::trace {

std::vector<Value> DecompositionTable::take_apart(ops::Context& context, const ops::Operator& op,
                                                  std::span<const Value> arguments,
                                                  ops::Level deepest) const {
  if (const auto found = chosen_.find(&op); found != chosen_.end())
    return found->second ? found->second(context, arguments) : std::vector<Value>();
  if (op.level == ops::Level::kNever || op.level > deepest) return {};
  return ops::take_apart(context, op, arguments);
}

}  // namespace flambeau::trace
