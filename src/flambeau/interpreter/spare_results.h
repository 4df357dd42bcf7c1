// Small results of a place in the code that nobody has any more: the next one is made in one of them, so that
// a loop over small tensors asks for no memory.
#pragma once

#include <array>
#include <memory>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::ops {
class Context;
}

namespace flambeau::interpreter {

using script::IValue;

// Larger pieces of memory are not kept: making them costs little beside filling them.
constexpr size_t kMostSpareBytes = 4096;

class SpareResults {
 public:
  // A tensor of that description, which begins where its memory does, with anything in it.
  IValue take(ops::Context& context, const Tensor& description, size_t bytes);

 private:
  struct Spare {
    std::shared_ptr<Storage> memory;
    IValue value;  // the tensor over it
  };
  // Two, for a loop holds the last result while it makes the next.
  std::array<Spare, 2> spares_;
  size_t next_ = 0;
};

}  // namespace flambeau::interpreter
