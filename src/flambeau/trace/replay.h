// The calls of a program made again where a model's are: as the calls of a module, of sizes that may be
// symbols, under whoever traces. The interpreter of runtime/ does the rest.
#pragma once

#include <span>
#include <vector>

#include "flambeau/runtime/higher_order.h"
#include "flambeau/runtime/interpreter.h"

namespace flambeau::trace {

class Replay : public runtime::Caller {
 public:
  using runtime::Caller::call;
  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override;
  // A comparison of symbols gives an object, which cond() and assertions understand.
  Value call(const ops::PythonFunction& function, std::span<const Value> arguments) override;
  // Where control flow is traced: through cond(), while_loop() and map().
  std::vector<Value> call(runtime::Interpreter& interpreter, runtime::HigherOrderFunction function,
                          const runtime::HigherOrderCall& call) override;

 protected:
  // A tensor as a traced higher-order operator takes it, and one as it gives it.
  virtual Tensor unwrap(const Tensor& tensor) { return tensor; }
  virtual Tensor wrap(const Tensor& tensor) { return tensor; }
  // A graph inside, in the context that is current then.
  virtual std::vector<Value> run_inner(const runtime::Code& code, std::vector<Value> inputs);

 private:
  class Tracing;
};

}  // namespace flambeau::trace
