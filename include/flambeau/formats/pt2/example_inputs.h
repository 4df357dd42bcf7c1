// The inputs a program was exported with: torch.save of ((args...), {kwargs...}), as the flat list of values
// that running it takes. Nothing in the pickle is called.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/value.h"

namespace flambeau::pt2 {

// One value for each leaf of the program's in_spec, in its order: tensors with their strides (on the CPU,
// wherever they were; copies, so that a run may write to them), numbers, texts, None. Containers are matched
// by the spec; dicts by their keys. Throws Error(kNotFound) where the program has none, Error(kUnsupported)
// for objects that only Python knows, Error(kCorrupt) where the pickle is damaged or nested unlike the spec;
// located at the input.
std::vector<Value> read_example_inputs(const graph::ExportedProgram& program);
// The same of bytes alone.
std::vector<Value> read_example_inputs(ByteSpan bytes, const TreeSpec& in_spec);

// The bytes of such inputs: one value for each leaf of the spec. Throws Error(kUnsupported) for containers
// and values that torch.load does not open without trust.
std::shared_ptr<Storage> write_example_inputs(const TreeSpec& in_spec, std::span<const Value> leaves);

// PyTorch writes an empty record where there are none.
bool has_example_inputs(const graph::ExportedProgram& program);

}  // namespace flambeau::pt2
