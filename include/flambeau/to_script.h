// An exported program as a TorchScript module, for whoever's deployment still takes those: its parameters and
// buffers keep their names, its method `forward` computes what the program does.
//
//   Package package = load_package("model.pt2");
//   script::ScriptModule module = to_script(package.model().program);
//   script::save_script(module, "model.pt");
#pragma once

#include "flambeau/program.h"
#include "flambeau/script.h"

namespace flambeau {

// Weights are shared with the program. Throws Error(kUnsupported) that names the node, input or output that
// TorchScript has nothing for: operators that take graphs (but cond, while_loop and regions without
// gradients), objects, weights of types that its files do not have.
script::ScriptModule to_script(const ExportedProgram& program, const script::ScriptLoadOptions& options = {});

}  // namespace flambeau
