// Checks that stand where Python would raise a TypeError.
#pragma once

#include <span>
#include <string_view>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Throws Error(kInvalidArgument) when an argument is a condition, not a number: "Add of a relation".
void require_arithmetic(std::span<const Expr> args, std::string_view operation);
// Throws Error(kInvalidArgument) when an argument is a number, not a condition (symbols pass).
void require_logical(std::span<const Expr> args, std::string_view operation);
[[noreturn]] void throw_division_by_zero(std::string_view operation);
// The engine has no imaginary numbers.
[[noreturn]] void throw_complex(std::string_view operation);

}  // namespace flambeau::symbolic
