// Mobile modules in flatbuffers as modules: by the sources inside, or by their bytecode.
#pragma once

#include <memory>

#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/mobile/mobile_file.h"

namespace flambeau::script {

// `from_bytecode`: as mobile interpreters read it, also where there are sources. Throws Error(kCorrupt,
// kUnsupported, kLimit), and what the hooks throw.
MobileFile read_flatbuffer(std::shared_ptr<Mapping> bytes, std::shared_ptr<const OperatorTable> operators,
                           const LoadHooks& hooks, bool from_bytecode);

}  // namespace flambeau::script
