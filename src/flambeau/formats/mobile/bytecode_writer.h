// bytecode.pkl as PyTorch writes it.
#pragma once

#include "flambeau/script/bytecode/bytecode.h"

namespace flambeau::script {

// The value whose pickle the record is: tuples of tuples.
IValue bytecode_value(const bytecode::Program& program);

}  // namespace flambeau::script
