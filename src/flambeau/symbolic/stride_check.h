// PyTorch's question whether a tensor of these sizes and strides fills its memory without gaps or overlaps.
#pragma once

#include <span>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

// Sizes first, then as many strides; 1 or 0, nothing when one of them is no integer.
std::optional<Number> is_non_overlapping_and_dense(std::span<const Number> args);

// The function of that name over expressions: decided where the sizes of larger strides do not matter.
Expr non_overlapping_and_dense_indicator(std::vector<Expr> args);

}  // namespace flambeau::symbolic
