// Bytecode becomes a graph again: jumps become branches and loops, the stack and the registers become values.
// It is the verifier at once: code whose jumps, stack, registers, indices or types do not fit is refused
// before an instruction of it runs.
#pragma once

#include <cstdint>
#include <memory>

#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::bytecode {

// What the function takes and gives. Files before version 4 do not say: then it takes what the first
// instruction stores. Throws Error(kCorrupt).
Signature signature_of(const Code& code, Unit& unit);

struct LiftOptions {
  int64_t operator_version = 10;
  // Where each instruction comes from, by its debug handle; may be empty.
  std::function<void(int64_t handle, ir::Node& node)> locate = {};
};

// Throws Error located at the instruction: kCorrupt for code that no compiler wrote, kUnsupported for an
// operator or instruction that is not known.
std::shared_ptr<ir::Graph> lift(const Code& code, const Signature& signature, Unit& unit,
                                const LiftOptions& options = {});

}  // namespace flambeau::script::bytecode
