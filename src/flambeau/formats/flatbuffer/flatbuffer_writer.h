// Writes mobile modules as flatbuffers, as PyTorch 2.13 writes them.
#pragma once

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/torchscript/script_file.h"

namespace flambeau::script {

// What torch.jit.save_jit_module_to_flatbuffer gives. `has_code`: with the sources, without which it is for
// mobile interpreters alone. PyTorch's files differ in the numbers of debug handles, which mean nothing
// there. Throws what export_program throws, and Error(kUnsupported, kLimit) for tensors that flatbuffers
// cannot hold.
void write_flatbuffer(ByteSink& sink, const ScriptFile& file, const IValue& module,
                      const ExtraFiles& extra_files, bool has_code, const SaveHooks& hooks,
                      Progress& progress);

}  // namespace flambeau::script
