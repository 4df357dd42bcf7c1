// The C source of a library of kernels. It includes nothing, and has in it nothing that a file says: only
// what ops/engines/block_code.h writes, and the functions that this calls.
#pragma once

#include <span>
#include <string>

namespace flambeau::aot {

// To be compiled once for each level, whose name LEVEL says.
std::string kernel_source(std::span<const std::string> codes);

}  // namespace flambeau::aot
