// Calls the operators of a graph again, node by node, in whatever context it is given: to run a program as a
// module, or to trace it once more.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "flambeau/graph/graph.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::trace {

class Replay {
 public:
  explicit Replay(ops::Context& context) : context_(context) {}
  virtual ~Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void set(const graph::Value& value, Value is) { values_[&value] = std::move(is); }
  // Throws Error(kCorrupt) for a value that nothing gave yet, Error(kUnsupported) for what no operator takes.
  Value get(const graph::Argument& argument) const;
  // Throws Error located at the node.
  void run(const graph::Node& node);
  // All of the graph; gives its outputs.
  std::vector<Value> run(const graph::Graph& graph, std::span<const Value> inputs);

 protected:
  // A node of torch.ops.higher_order, through cond(), while_loop() and map(). What it gives, one by one.
  virtual std::vector<Value> call_higher_order(const graph::Node& node);
  // A tensor as the node of a higher-order operator takes it, and one as it gives it.
  virtual Tensor unwrap(const Tensor& tensor) { return tensor; }
  virtual Tensor wrap(const Tensor& tensor) { return tensor; }
  // A graph inside the node, in a replay of its own.
  virtual std::vector<Value> run_inner(const graph::Graph& graph, std::span<const Value> inputs);

 private:
  std::vector<Value> results_of(const graph::Node& node);
  std::vector<Value> call_operator(const graph::Node& node, const ops::Operator& op);
  std::vector<Value> call_function(const graph::Node& node);
  std::vector<Value> tensors_of(const graph::Argument& argument);
  // Assertions, and what tells the tracer of numbers: they are asked of the model again. False for others.
  bool assert_again(const graph::Node& node, const ops::Operator& op);
  void give(const graph::Node& node, const std::vector<Value>& results);

  ops::Context& context_;
  std::unordered_map<const graph::Value*, Value> values_;
  // Comparisons of sizes, which are no values of their own.
  std::unordered_map<const graph::Value*, symbolic::Expr> conditions_;
};

}  // namespace flambeau::trace
