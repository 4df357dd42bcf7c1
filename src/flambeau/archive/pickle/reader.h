// Turns pickle bytes (protocols 0 to 5) into a Tree. Runs nothing.
#pragma once

#include <memory>

#include "flambeau/archive/pickle/tree.h"

namespace flambeau::pickle {

struct Limits {
  // What the tree may take in memory: a fixed part plus so many times the input.
  uint64_t fixed_bytes = 16ULL << 20;
  // Nothing that CPython or PyTorch writes takes more than 16 (an empty list in protocol 4: two bytes).
  uint64_t bytes_per_input_byte = 16;
};

struct Parsed {
  Tree tree;
  size_t consumed;  // bytes up to and with STOP: legacy files hold several pickles in a row
};

// Strings and bytes of the tree are views into `bytes`, which `keep_alive` keeps (null: the caller does).
// Throws Error(kCorrupt, kUnsupported, kLimit) located at the byte; the message names the opcode.
Parsed parse(ByteSpan bytes, std::shared_ptr<const void> keep_alive, const Limits& limits = {});

}  // namespace flambeau::pickle
