// Traced tensors: everything of a tensor but its data. Each has a storage of its own, a view too: the
// storage's address is what the tracer knows the tensor by.
#pragma once

#include <span>

#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/value/value.h"

namespace flambeau::trace {

using symbolic::SymInt;

// Plain sizes where they are all numbers, else symbolic ones.
Tensor make_fake(const ops::Info<SymInt>& info);
Tensor make_fake(const ops::Info<Size>& info);
using ops::symbolic_info;

bool has_symbols(const Value& value);
bool has_symbols(std::span<const Value> values);

}  // namespace flambeau::trace
