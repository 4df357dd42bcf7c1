// Does a condition hold for every size in the ranges? PyTorch's reasoning asks what a relation simplifies to;
// this one asks whether its contrary is possible at all: quotients, remainders, maxima and products become
// numbers of their own with what is true of them, and inequalities are added up until they contradict each
// other (Fourier and Motzkin's elimination, over integers). What it says is so; what it does not say may be
// so all the same.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/ranges/value_range.h"

namespace flambeau::trace {

using RangeOf = std::function<std::optional<symbolic::ValueRange>(std::string_view symbol)>;

bool is_proved(const symbolic::Expr& condition, const RangeOf& range_of);

}  // namespace flambeau::trace
