// The symbols of a trace that is being written down: the tracer hears how sizes are computed.
#pragma once

#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/listener.h"
#include "flambeau/trace/tracer.h"

namespace flambeau::trace {

class TracedSymbols final : public ShapeEnv, public symbolic::Listener {
 public:
  void computed(symbolic::Arithmetic how, const symbolic::Expr& a, const symbolic::Expr& b,
                const symbolic::Expr& result) override {
    if (tracer != nullptr && !is_quiet) tracer->note(how, a, b, result);
  }
  Tracer* tracer = nullptr;
  bool is_quiet = false;  // what is computed now is nobody's step
};

}  // namespace flambeau::trace
