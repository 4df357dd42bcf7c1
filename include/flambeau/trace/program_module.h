// An exported program as a module again: its parameters and buffers under their names in a tree of modules,
// callable and traceable like any other. Calling it runs the program's operators one by one in the thread's
// session, so it can be exported again; to run a program fast, load it (flambeau/runtime.h).
#pragma once

#include <memory>

#include "flambeau/graph/program.h"
#include "flambeau/nn/module.h"

namespace flambeau::trace {

// The modules of the original model have their names and classes; nodes run inside the module that they came
// from. A module whose call was preserved (ExportOptions::preserved) can be called on its own too. The
// tensors share the program's bytes until they are written. Throws Error(kInvalidArgument) for a program
// without weights, Error(kCorrupt) where the program contradicts itself.
std::unique_ptr<nn::Module> make_module(graph::ExportedProgram program);

}  // namespace flambeau::trace
