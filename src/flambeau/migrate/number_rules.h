// Operators of tensors that are numbers made of sizes: what they give as a number.
#pragma once

#include <optional>
#include <span>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/value/value.h"

namespace flambeau::migration {

// `numbers`: of each argument that is a number, as a tensor or not. Nothing where the result is no such
// number.
std::optional<SymInt> number_of_call(const ops::Operator& op, std::span<const Value> arguments,
                                     std::span<const std::optional<SymInt>> numbers);

}  // namespace flambeau::migration
