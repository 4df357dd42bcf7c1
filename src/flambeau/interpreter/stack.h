// Registers of frames: they stay where they are while frames come and go above them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::interpreter {

class RegisterStack {
 public:
  // All None.
  script::IValue* push(size_t count) {
    while (at_ < blocks_.size() && blocks_[at_].size - blocks_[at_].used < count) {
      if (blocks_[at_].used == 0 && at_ + 1 == blocks_.size()) {
        blocks_.pop_back();  // too small for this one: a larger one takes its place
        break;
      }
      ++at_;
    }
    if (at_ == blocks_.size()) {
      const size_t size = std::max(count, kBlockSize);
      blocks_.push_back({std::make_unique<script::IValue[]>(size), size, 0});
    }
    Block& block = blocks_[at_];
    script::IValue* const registers = block.values.get() + block.used;
    block.used += count;
    return registers;
  }
  // The last ones that were pushed.
  void pop(script::IValue* registers, size_t count) {
    for (size_t i = 0; i < count; ++i) registers[i] = script::IValue();
    blocks_[at_].used -= count;
    while (at_ > 0 && blocks_[at_].used == 0) --at_;
  }

 private:
  static constexpr size_t kBlockSize = 1024;
  struct Block {
    std::unique_ptr<script::IValue[]> values;
    size_t size = 0;
    size_t used = 0;
  };
  std::vector<Block> blocks_;
  size_t at_ = 0;
};

}  // namespace flambeau::interpreter
