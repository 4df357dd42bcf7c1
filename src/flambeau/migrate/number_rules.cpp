#include "flambeau/migrate/number_rules.h"

#include <string>
#include <unordered_map>

#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::migration {
namespace {

using Given = std::span<const Value>;
using Numbers = std::span<const std::optional<SymInt>>;
using Rule = std::optional<SymInt> (*)(Given arguments, Numbers numbers);

// alpha, the third argument of sums.
SymInt factor(Numbers numbers) { return numbers.size() > 2 && numbers[2] ? *numbers[2] : SymInt(1); }

// How a quotient is rounded, where it gives whole numbers at all.
std::optional<std::string> rounding(Given arguments) {
  if (arguments.size() < 3) return {};
  const std::string* const mode = arguments[2].get_if<std::string>();
  return mode == nullptr ? std::nullopt : std::optional(*mode);
}

bool keeps_type(Given arguments) {
  for (const Value& value : arguments) {
    if (const DType* const dtype = value.get_if<DType>(); dtype != nullptr && *dtype != DType::kInt64)
      return false;
  }
  return true;
}

struct Rules {
  Rules() {
    const Rule add = [](Given, Numbers n) -> std::optional<SymInt> { return *n[0] + *n[1] * factor(n); };
    const Rule subtract = [](Given, Numbers n) -> std::optional<SymInt> { return *n[0] - *n[1] * factor(n); };
    const Rule reverse = [](Given, Numbers n) -> std::optional<SymInt> { return *n[1] - *n[0] * factor(n); };
    const Rule multiply = [](Given, Numbers n) -> std::optional<SymInt> { return *n[0] * *n[1]; };
    const Rule floor = [](Given, Numbers n) -> std::optional<SymInt> { return floor_div(*n[0], *n[1]); };
    const Rule remainder = [](Given, Numbers n) -> std::optional<SymInt> { return modulo(*n[0], *n[1]); };
    // Sizes are not negative: cutting and rounding down are the same.
    const Rule divide = [](Given arguments, Numbers n) -> std::optional<SymInt> {
      if (!rounding(arguments)) return {};
      return floor_div(*n[0], *n[1]);
    };
    const Rule same = [](Given arguments, Numbers n) -> std::optional<SymInt> {
      return keeps_type(arguments) ? n[0] : std::nullopt;
    };
    const Rule negate = [](Given, Numbers n) -> std::optional<SymInt> { return -*n[0]; };
    set("aten::add.Tensor", add, 2);
    set("aten::add.Scalar", add, 2);
    set("aten::sub.Tensor", subtract, 2);
    set("aten::sub.Scalar", subtract, 2);
    set("aten::rsub.Tensor", reverse, 2);
    set("aten::rsub.Scalar", reverse, 2);
    set("aten::mul.Tensor", multiply, 2);
    set("aten::mul.Scalar", multiply, 2);
    set("aten::floor_divide", floor, 2);
    set("aten::floor_divide.Scalar", floor, 2);
    set("aten::remainder.Tensor", remainder, 2);
    set("aten::remainder.Scalar", remainder, 2);
    set("aten::div.Tensor_mode", divide, 2);
    set("aten::div.Scalar_mode", divide, 2);
    set("aten::neg", negate, 1);
    set("aten::detach", same, 1);
    set("aten::clone", same, 1);
    set("aten::alias", same, 1);
    set("aten::to.dtype", same, 1);
    set("aten::to.device", same, 1);
    set("aten::to.dtype_layout", same, 1);
  }
  void set(const char* name, Rule rule, size_t numbers) { by_name.emplace(name, std::pair(rule, numbers)); }
  std::unordered_map<std::string, std::pair<Rule, size_t>> by_name;
};

}  // namespace

std::optional<SymInt> number_of_call(const ops::Operator& op, Given arguments, Numbers numbers) {
  static const Rules rules;
  const auto found = rules.by_name.find(op.name());
  if (found == rules.by_name.end()) return {};
  for (size_t i = 0; i < found->second.second; ++i) {
    if (i >= numbers.size() || !numbers[i]) return {};
  }
  return found->second.first(arguments, numbers);
}

}  // namespace flambeau::migration
