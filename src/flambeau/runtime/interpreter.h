// Runs code, operator after operator. Takes everything a program can say, also control flow and shapes that
// depend on data.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/runtime/code.h"
#include "flambeau/runtime/profile.h"
#include "flambeau/runtime/work.h"

namespace flambeau::runtime {

// How the calls of a program are made. This one makes them as they are; who traces a program again derives
// another.
class Caller {
 public:
  virtual ~Caller() = default;
  // Arguments that come from the program's values fit the schema, unless they are objects.
  virtual std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                                  std::span<const Value> arguments);
  virtual Value call(const ops::PythonFunction& function, std::span<const Value> arguments);
  // `function` runs it; null: nobody here knows it. Gives the flat list of results.
  virtual std::vector<Value> call(Interpreter& interpreter, HigherOrderFunction function,
                                  const HigherOrderCall& call);

  static Caller& plain();
};

class Interpreter {
 public:
  // A profile, where one is given, must fit the code that runs.
  explicit Interpreter(ops::Context& context, Profile* profile = nullptr, Caller& caller = Caller::plain())
      : context_(context), profile_(profile), caller_(caller) {}

  // Inputs in the order of the graph's; gives its outputs. Errors are located at their node.
  std::vector<Value> run(const Code& code, std::vector<Value> inputs);

  ops::Context& context() { return context_; }
  // Called before each node, where it is set.
  std::function<void(const graph::Node& node)> on_node;

 private:
  using Slots = std::vector<Value>;
  Value value_of(const Source& source, const Slots& slots) const;
  void run_one(const Code& code, const Instruction& instruction, Slots& slots);
  std::vector<Value> call_operator(const Instruction& instruction, Slots& slots);
  std::vector<Value> call_python(const Instruction& instruction, const Slots& slots);
  std::vector<Value> call_higher_order(const Code& code, const Instruction& instruction, const Slots& slots);

  ops::Context& context_;
  Profile* profile_;
  Caller& caller_;
  Work work_;  // of the last operator, where there is a profile
  int depth_ = 0;
};

}  // namespace flambeau::runtime
