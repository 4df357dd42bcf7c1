// Whether what a graph gives depends on its arguments alone, and running it changes nothing that is there
// before: only then running it once on tensors without data tells what every run does.
#pragma once

#include "flambeau/ops/mechanism/library.h"
#include "flambeau/runtime/code.h"
#include "flambeau/script/ir/graph.h"

namespace flambeau::planned {

// The first input is the object whose method it is; nothing may use it.
bool is_pure(const script::ir::Graph& graph);

// The calls of operators as the runtime's code has them, without order or constants: for those who ask what a
// program may do at all.
runtime::Code calls_of(const script::ir::Graph& graph, const ops::Library& library);

}  // namespace flambeau::planned
