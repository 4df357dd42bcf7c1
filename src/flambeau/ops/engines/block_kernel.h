// Machine code for programs of blocks, made ahead of time: who has some gives it by the code it was made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flambeau::ops {

// `count` elements of each input, packed or one for all, to packed outputs. What the constants are: see
// block_code.h.
using BlockKernel = void (*)(const void* const* inputs, void* const* outputs, const void* const* constants,
                             int64_t count);

class BlockKernels {
 public:
  virtual ~BlockKernels() = default;
  // Null where there is none. From any thread.
  virtual BlockKernel find(std::string_view code) const = 0;
};

}  // namespace flambeau::ops
