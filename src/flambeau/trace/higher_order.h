// Branches and loops of a traced model as higher-order operators: each function is traced into a graph of its
// own, and what it uses from outside becomes an operand, in PyTorch's order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/trace/traced_symbols.h"

namespace flambeau::trace {

class HigherOrder : public nn::ControlFlow {
 public:
  // `symbols.tracer` is the tracer of the innermost graph.
  explicit HigherOrder(TracedSymbols& symbols) : symbols_(symbols) {}

  nn::Tree cond(const nn::Predicate& predicate, const nn::Body& if_true, const nn::Body& if_false,
                const nn::Tree& operands) override;
  nn::Tree while_loop(const nn::Body& condition, const nn::Body& body, const nn::Tree& carried) override;
  nn::Tree map(const nn::Body& body, const nn::Tree& over, const nn::Tree& others) override;
  void rehearse(const std::function<void()>& body) override;
  bool is_rehearsing() const override { return rehearsals_ > 0; }
  nn::Tree pretend_cond(const nn::Tree& when_true, const nn::Tree& when_false) override;
  nn::Tree pretend_carried(const nn::Tree& carried) override;
  bool is_from_outside(const Tensor& tensor) const override;
  void stand_for(const Tensor& outside, const Tensor& inside) override;

  // What Python code would call the value, for the order of operands; the value's name when it is not set.
  std::function<std::string(const graph::Value& value)> name_of;

 private:
  class Subgraph;
  std::vector<ops::Info<SymInt>> joined_results(const nn::Tree& first, const nn::Tree& second);
  nn::Tree pretend(std::span<const ops::Info<SymInt>> infos, const TreeSpec& spec);

  TracedSymbols& symbols_;
  int rehearsals_ = 0;  // inside of each other
};

}  // namespace flambeau::trace
