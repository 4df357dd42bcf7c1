// The forms of an operator that follow from its functional one: in place ("add_"), with results given
// ("add.out"), and the copying twin of a view ("view_copy").
#pragma once

#include <memory>

#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {

class Library;

// The operator of that schema, made from another one of the library; null when there is none to make it from.
std::unique_ptr<Operator> derive(const Library& library, const Schema& schema);

// Writes a result to where it was asked for. A tensor of another shape gets new memory, as PyTorch resizes
// it. Throws Error(kInvalidArgument) where the type cannot be cast.
Tensor written_to(Context& context, const Tensor& result, const Tensor& out);

// Runs a derived operator.
std::vector<Value> execute_variant(Context& context, const Operator& op, std::span<const Value> arguments);

}  // namespace flambeau::ops
