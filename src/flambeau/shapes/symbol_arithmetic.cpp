#include "flambeau/shapes/symbol_arithmetic.h"

#include <algorithm>

namespace flambeau::trace {

SymInt to_sym(const Value& number) {
  if (const SymInt* const symbol = number.get_if<SymInt>()) return *symbol;
  return number.get<int64_t>();
}

std::optional<Value> call_on_symbols(std::string_view target, std::span<const Value> arguments) {
  const auto is_symbol = [](const Value& value) { return value.is<SymInt>(); };
  if (std::ranges::none_of(arguments, is_symbol)) return std::nullopt;
  for (const Value& argument : arguments) {
    if (!argument.is<SymInt>() && !argument.is<int64_t>()) return std::nullopt;
  }
  const SymInt a = to_sym(arguments[0]);
  if (arguments.size() == 1) {
    if (target == "_operator.neg") return Value(-a);
    return std::nullopt;
  }
  const SymInt b = to_sym(arguments[1]);
  if (target == "_operator.add") return Value(a + b);
  if (target == "_operator.sub") return Value(a - b);
  if (target == "_operator.mul") return Value(a * b);
  if (target == "_operator.floordiv") return Value(floor_div(a, b));
  if (target == "_operator.mod") return Value(modulo(a, b));
  if (target == "torch.sym_max") return Value(max(a, b));
  if (target == "torch.sym_min") return Value(min(a, b));
  if (target == "_operator.pow" && b.is_literal() && b.literal() >= 0) {
    SymInt product = 1;
    for (int64_t i = 0; i < b.literal(); ++i) product *= a;
    return Value(product);
  }
  return std::nullopt;
}

}  // namespace flambeau::trace
