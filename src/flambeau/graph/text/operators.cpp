#include "flambeau/graph/text/operators.h"

namespace flambeau::graph {
namespace {

constexpr TextOperator kOperators[] = {
    {"_operator.add", "", " + ", "", 2},     {"_operator.sub", "", " - ", "", 2},
    {"_operator.mul", "", " * ", "", 2},     {"_operator.floordiv", "", " // ", "", 2},
    {"_operator.truediv", "", " / ", "", 2}, {"_operator.mod", "", " % ", "", 2},
    {"_operator.pow", "", " ** ", "", 2},    {"_operator.lshift", "", " << ", "", 2},
    {"_operator.rshift", "", " >> ", "", 2}, {"_operator.and_", "", " & ", "", 2},
    {"_operator.or_", "", " | ", "", 2},     {"_operator.xor", "", " ^ ", "", 2},
    {"_operator.matmul", "", " @ ", "", 2},  {"_operator.eq", "", " == ", "", 2},
    {"_operator.ne", "", " != ", "", 2},     {"_operator.lt", "", " < ", "", 2},
    {"_operator.gt", "", " > ", "", 2},      {"_operator.le", "", " <= ", "", 2},
    {"_operator.ge", "", " >= ", "", 2},     {"_operator.getitem", "", "[", "]", 2},
    {"_operator.pos", "+", "", "", 1},       {"_operator.neg", "-", "", "", 1},
    {"_operator.invert", "~", "", "", 1},
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

const TextOperator* operator_of(std::string_view target, size_t operands) {
  if (!target.starts_with("_operator.")) return nullptr;
  for (const TextOperator& shape : kOperators) {
    if (shape.target == target && shape.operands == operands) return &shape;
  }
  return nullptr;
}

const TextOperator* operator_by_sign(std::string_view sign, size_t operands) {
  for (const TextOperator& shape : kOperators) {
    if (shape.operands == operands && trimmed(operands == 2 ? shape.between : shape.before) == sign) {
      return &shape;
    }
  }
  return nullptr;
}

}  // namespace flambeau::graph
