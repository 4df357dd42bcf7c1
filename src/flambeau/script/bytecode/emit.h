// Graphs become bytecode, instruction by instruction as PyTorch emits it.
#pragma once

#include <memory>

#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::bytecode {

// What the versions of bytecode differ in.
struct EmitMode {
  bool loads_defaults = false;         // all arguments of operators are on the stack; until 5
  bool leaves_out_before_outs = true;  // defaults before arguments for results are left out; from 7
  bool has_promoted = true;            // from 8
  bool has_plain_types = false;        // flatbuffers' types are as code has them; from 9
};
// Throws Error(kUnsupported) for a version that is not written: 4 to 9 are.
EmitMode emit_mode(int64_t version);

// The code of a graph in which all calls are inlined. Throws Error(kUnsupported) for what mobile modules
// cannot hold: forks, `with`, objects of a script's own classes.
Code emit(const ir::Graph& graph, const Unit& unit, const EmitMode& mode);

}  // namespace flambeau::script::bytecode
