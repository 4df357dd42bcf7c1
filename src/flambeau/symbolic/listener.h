// A Decider that also wants to hear how expressions come about: a tracer that writes the same steps down.
#pragma once

#include <cstdint>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply, kFloorDivide, kModulo, kMin, kMax };

class Listener {
 public:
  virtual ~Listener() = default;
  // `result` has symbols in it.
  virtual void computed(Arithmetic how, const Expr& a, const Expr& b, const Expr& result) = 0;
};

}  // namespace flambeau::symbolic
