// A graph becomes code: blocks become jumps, operators are looked up once, last uses let go of their values.
#pragma once

#include <memory>
#include <string>

#include "flambeau/interpreter/code.h"

namespace flambeau::interpreter {

class Program;

// Throws Error(kUnsupported) for nodes that only exist while a function is compiled, Error(kLimit) for graphs
// beyond all reason, and what looking up classes and functions throws.
std::shared_ptr<const Code> generate(const Program& program, std::shared_ptr<const ir::Graph> graph,
                                     std::string function);

}  // namespace flambeau::interpreter
