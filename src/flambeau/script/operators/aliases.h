// Operators that are another one by a second name. Graphs hold the first name alone.
#pragma once

#include <string_view>

namespace flambeau::script {

// "aten::div" of "aten::divide"; empty for an operator that is nobody's alias.
std::string_view alias_target(std::string_view operator_name);
// Subtraction with its operands swapped: what takes its place once they are swapped back; empty for others.
std::string_view swapped_operator(std::string_view operator_name, std::string_view overload);
// Of `is` and `is not`: what they mean between two booleans; empty for others.
std::string_view comparison_of_booleans(std::string_view operator_name);

}  // namespace flambeau::script
