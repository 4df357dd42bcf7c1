// Traces a module into an exported program, as torch.export.export does without strict mode: its training
// form, with operators as the model calls them and in-place ones kept.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/nn/module.h"
#include "flambeau/trace/dynamic_shapes.h"

namespace flambeau::trace {

struct ExportOptions {
  DynamicShapes dynamic_shapes = {};  // what is not mentioned is as in the example
};

// The module is called once with tensors that have the sizes of these, and no data; it is not changed. The
// thread must have a session. Throws Error located at the module and the line.
graph::ExportedProgram trace_module(nn::Module& module, std::span<const nn::Tree> arguments,
                                    nn::Keywords keywords = {}, const ExportOptions& options = {});

}  // namespace flambeau::trace
