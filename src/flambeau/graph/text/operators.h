// The functions of Python's operator module that the text writes as operators: "a + b", "-a", "a[b]".
#pragma once

#include <cstddef>
#include <string_view>

namespace flambeau::graph {

struct TextOperator {
  std::string_view target;  // "_operator.add"
  std::string_view before;
  std::string_view between;
  std::string_view after;
  size_t operands;
};

// Null when a call of it with that many arguments is written as a call.
const TextOperator* operator_of(std::string_view target, size_t operands);
// By the sign between two operands ("+") or before one ("-"); null when there is none.
const TextOperator* operator_by_sign(std::string_view sign, size_t operands);

}  // namespace flambeau::graph
