// Traces a module into an exported program, as torch.export.export does without strict mode: its training
// form, with operators as the model calls them and in-place ones kept.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/nn/module.h"
#include "flambeau/shapes/dynamic_shapes.h"

namespace flambeau::trace {

struct ExportOptions {
  DynamicShapes dynamic = {};  // what is not mentioned is as in the example
  // Full names of modules whose calls the program describes (preserve_module_call_signature): what they were
  // given and gave, each time.
  std::vector<std::string> preserved = {};
  // Nothing unseen decides: an error for a traced tensor that is still held somewhere after the call, and for
  // a write to a tensor that is no input and no state of the module.
  bool is_strict = false;
  // Refuse, or fix to the example, what PyTorch's solver does not see: guards that hold for all sizes but
  // have to be proved, and the length of what goes through recurrent layers.
  bool is_like_pytorch = false;
  // A size that may vary, and is 1 in the example, is traced as 2: a 1 would be taken as one that stays.
  bool widens_ones = false;
};

// The module is called once with tensors that have the sizes of these, and no data; its parameters and
// buffers are as before afterwards. A buffer that it replaces is written to by the program. The thread must
// have a session. Throws Error located at the module and the line.
graph::ExportedProgram trace_module(nn::Module& module, std::span<const nn::Tree> arguments,
                                    const nn::Keywords& keywords = {}, const ExportOptions& options = {});

}  // namespace flambeau::trace
