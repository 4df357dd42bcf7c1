// bytecode.pkl of mobile modules: (version, (function, code table, schema table)...), where a table is a row
// of (key, value).
#pragma once

#include <functional>
#include <vector>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/script/bytecode/bytecode.h"

namespace flambeau::script {

// Gives the value of a constant or default.
using ReadConstant = std::function<IValue(const pickle::Node& node)>;

// Versions 3 to 8. Throws Error(kCorrupt) for another shape, Error(kUnsupported) for another version or an
// instruction that is not known. Whether the code makes sense is for lifting to say.
bytecode::Program read_bytecode(const pickle::Node& root, int64_t operator_version,
                                const ReadConstant& read_constant);

// mobile_debug_handles.pkl: of each function, in the program's order, a handle for each instruction. Those
// that do not fit are left out.
void read_debug_handles(const pickle::Node& root, bytecode::Program& program);

}  // namespace flambeau::script
