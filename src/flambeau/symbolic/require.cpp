#include "flambeau/symbolic/require.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::symbolic {

void require_arithmetic(std::span<const Expr> args, std::string_view operation) {
  for (const Expr& arg : args)
    if (arg.is_boolean() || arg.kind() == Kind::kPair)
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} takes numbers, but an argument is a condition ({})", operation, arg.name()));
}

void require_logical(std::span<const Expr> args, std::string_view operation) {
  for (const Expr& arg : args) {
    const bool is_condition = arg.is_boolean() || arg.is_symbol() || arg.kind() == Kind::kFunction ||
                              arg.kind() == Kind::kUndefined || arg.kind() == Kind::kPiecewise ||
                              arg.kind() == Kind::kWhere;
    if (!is_condition)
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} takes conditions, but an argument is a number ({})", operation, arg.name()));
  }
}

void throw_division_by_zero(std::string_view operation) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: division by zero", operation));
}

void throw_complex(std::string_view operation) {
  throw Error(ErrorCode::kUnsupported, fmt::format("{}: the result is not a real number", operation));
}

}  // namespace flambeau::symbolic
