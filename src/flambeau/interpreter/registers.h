// Which register each value of a graph has, and until when: registers are taken again once their value was
// read for the last time.
#pragma once

#include <cstdint>
#include <vector>

#include "flambeau/interpreter/code.h"

namespace flambeau::interpreter {

// The node of a value's own block behind which nobody reads it; null for a value without uses.
struct Lifetime {
  const ir::Node* last = nullptr;
  // It is read inside of that node's blocks, perhaps many times.
  bool is_inside = false;
  // The last of the node's inputs that is the value, where the node itself reads it.
  size_t last_input = 0;
};
Lifetime lifetime_of(const ir::Value& value);

// Whether a value of that type can refer to something on the heap, so that letting it go early matters.
bool may_be_boxed(const Type& type);

class Registers {
 public:
  uint32_t take();
  void give_back(uint32_t index) { free_.push_back(index); }
  uint32_t count() const { return count_; }

 private:
  std::vector<uint32_t> free_;
  uint32_t count_ = 0;
};

// Moves that happen at once, as moves one after the other: a value that would be overwritten before it is
// read goes through a register of its own. Each goal occurs once.
struct Move {
  Operand from;
  uint32_t to = 0;
};
std::vector<Move> in_order(std::vector<Move> at_once, Registers& registers);

// Whether the next turn's value can be made in the register of this turn's: nobody reads that any more, and
// neither is anything but a number.
bool can_be_made_in_place(const ir::Block& body, size_t index);

}  // namespace flambeau::interpreter
