// A module as bytecode: which functions of it are emitted, in PyTorch's order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::bytecode {

// All methods of the module, __setstate__ and __getstate__ of what is inside of it, and methods that are
// called through interfaces; all other calls are inlined. Throws Error(kUnsupported) located at the method
// for what mobile modules cannot hold, and what compiling throws.
Program export_program(const Unit& unit, const IValue& module, int64_t version);

// The names of the operators of these functions, "aten::add.Tensor", sorted: what a runtime needs to have to
// run them, also where bytecode could not hold the functions.
std::vector<std::string> operator_names(const Unit& unit, const IValue& module);

}  // namespace flambeau::script::bytecode
