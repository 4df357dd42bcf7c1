// What branches and loops that data decides have in common.
#pragma once

#include <string>
#include <utility>

#include "flambeau/interpreter/flow.h"
#include "flambeau/migrate/traced_calls.h"
#include "flambeau/nn/tree.h"

namespace flambeau::migration {

nn::Tree tree_of(const TensorList& tensors);
// What a person called a result: "x" of "x.3".
std::string name_of(const interpreter::UnknownFlow& flow, size_t result);

// While it lives, one more side or turn runs.
struct Deeper {
  int& depth;
  explicit Deeper(int& of) : depth(of) { ++depth; }
  ~Deeper() { --depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

// While it lives, a side or a turn runs that writes to these.
struct Writing {
  Writing(TracedCalls& of, OuterWrites& writes)
      : calls(of), before(std::exchange(of.outer_writes, &writes)) {}
  ~Writing() { calls.outer_writes = before; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  TracedCalls& calls;
  OuterWrites* before;
};

}  // namespace flambeau::migration
