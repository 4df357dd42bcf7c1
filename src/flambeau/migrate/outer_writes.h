// Tensors from outside that a side of a branch or a turn of a loop writes to. The graph inside begins with a
// copy of each in its place, gives the copies back, and what they are then is written to the tensors outside.
#pragma once

#include <span>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/value/value.h"

namespace flambeau::nn {
class ControlFlow;
}

namespace flambeau::migration {

struct OuterWrites {
  TensorList own;    // the graph inside has copies of these
  TensorList found;  // the next ones: the call that wrote to them failed

  // Whether there is one more tensor that needs a copy inside.
  bool take_found();
  // Inside, at the beginning. `from`: what the copies are of, if not of the tensors themselves.
  void begin_with_copies(std::span<const Value> from = {}) const;
  // Inside, at the end: what is given back.
  void add_to(TensorList& leaves) const;
  // Outside, afterwards.
  void write_back(ops::Context& context, std::span<const Value> results) const;
};

// Of whoever traces.
nn::ControlFlow& control_flow();

}  // namespace flambeau::migration
