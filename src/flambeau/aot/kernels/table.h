// Kernels as a compiled model carries them: a shared library, and for each function of it which group of
// operators it computes. The table is a file's: everything in it is checked, and nothing of the library runs
// by reading it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/isa.h"
#include "flambeau/base/sha256.h"

namespace flambeau::aot {

// Stands for the code of a group (ops/engines/block_code.h).
using KernelKey = Sha256::Digest;
KernelKey key_of(std::string_view code);

struct KernelTable {
  std::vector<KernelKey> keys;  // beside the functions' numbers
  ByteSpan library;
};

std::vector<uint8_t> write_kernels(const KernelTable& table);
// Views of the bytes. Throws Error(kCorrupt).
KernelTable read_kernels(ByteSpan bytes);

// The levels of the instruction set that kernels of this machine are made for, the best last.
std::span<const Isa> kernel_levels();
std::string_view level_name(Isa level);
// What the library calls the function of that number.
std::string kernel_name(size_t number, Isa level);

// Throws Error(kUnsafe) for a library that does more than define these functions: needs others, takes
// anything from outside, runs something by being loaded, or has memory that is both written and run. Throws
// Error(kCorrupt) where one of them is missing, Error(kUnsupported) for another machine.
void check_kernel_library(ByteSpan library, size_t functions);

}  // namespace flambeau::aot
