// Comparisons of sizes as values of the graph, and what it asserts of numbers from data.
#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using symbolic::Expr;

// The function of Python's that compares so; empty when it is no comparison.
std::string_view comparison_name(symbolic::Kind kind) {
  switch (kind) {
    case symbolic::Kind::kEq:
      return "eq";
    case symbolic::Kind::kNe:
      return "ne";
    case symbolic::Kind::kLt:
      return "lt";
    case symbolic::Kind::kLe:
      return "le";
    case symbolic::Kind::kGt:
      return "gt";
    case symbolic::Kind::kGe:
      return "ge";
    default:
      return {};
  }
}

}  // namespace

void Tracer::take_name(const Expr& condition) {
  if (const std::string_view name = comparison_name(condition.kind()); !name.empty()) fresh_name(name);
}

graph::SymBool Tracer::describe_condition(const Expr& condition) const {
  const Expr plain = env_.replace(condition);
  if (plain.kind() == symbolic::Kind::kTrue) return true;
  auto text = std::make_shared<graph::SymExpr>();
  text->text = symbolic::to_srepr(plain);
  return graph::SymBool(std::move(text));
}

graph::Value& Tracer::condition_value(const Expr& condition) {
  const auto add_result = [&](graph::Node& node) -> graph::Value& {
    graph::Value& value = graph_.add_value(*node.name, describe_condition(condition));
    node.add_output(Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(value)));
    return value;
  };
  if (condition.kind() == symbolic::Kind::kNe) {
    graph::Value& equal = condition_value(symbolic::negated(condition));
    graph::Node& node = new_node("torch.sym_not", "sym_not");
    node.add_input("a", Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(equal)));
    return add_result(node);
  }
  const std::string_view function = comparison_name(condition.kind());
  if (function.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("no operators compute the condition {}", symbolic::to_string(condition)));
  }
  // As Python asks it: with a number on the right.
  if (condition.arg(0).is_number()) return condition_value(symbolic::reversed(condition));
  // A number from data is asserted itself, not what it was found to be.
  const auto side = [&](const Expr& expr) {
    const auto known = symbols_.find(expr);
    return known != symbols_.end() ? Argument::sym_int(*known->second) : argument(SymInt(expr, env_));
  };
  Argument left = side(condition.arg(0));
  Argument right = side(condition.arg(1));
  graph::Node& node = new_node(fmt::format("_operator.{}", function), function);
  node.add_input("a", std::move(left));
  node.add_input("b", std::move(right));
  return add_result(node);
}

Argument Tracer::condition_argument(const Expr& condition) {
  return Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(condition_value(condition)));
}

void Tracer::add_assertion(const Expr& condition) {
  graph::Value& value = condition_value(condition);
  graph::Node& assertion = new_node("torch.ops.aten._assert_scalar.default", "_assert_scalar_default");
  assertion.add_input("self", Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(value)));
  assertion.add_input("assert_msg", Argument::make<ArgumentKind::kString>(
                                        fmt::format("Runtime assertion failed for expression {} on node '{}'",
                                                    symbolic::to_string(condition), value.name())));
}

// `first`, or the last node behind it that gives a number of the condition.
graph::Node& Tracer::last_number_of(const Expr& condition, graph::Node& first) const {
  std::vector<const graph::Node*> producers;
  // What was computed already is not computed again, wherever it stands.
  const auto add = [&](const Expr& expr, auto&& self) -> void {
    const auto known = symbols_.find(expr);
    if (known == symbols_.end()) {
      for (const Expr& part : expr.args()) self(part, self);
    } else if (known->second->producer() != nullptr) {
      producers.push_back(known->second->producer());
    }
  };
  add(condition, add);
  graph::Node* last = &first;
  std::erase(producers, last);
  for (graph::Node* node = first.next(); node != nullptr && !producers.empty(); node = node->next()) {
    if (std::erase(producers, node) > 0) last = node;
  }
  return *last;
}

// Behind the node that gives a number from data stands what must hold of it.
void Tracer::add_assertions() {
  const std::vector<std::pair<graph::Value*, Expr>> numbers = numbers_;
  graph::Node* last_of_sizes = nullptr;
  for (const auto& [value, expr] : numbers) {
    if (!expr.is_symbol() || value->producer() == nullptr) continue;
    if (!env_.has_unbacked(expr)) {
      last_of_sizes = value->producer();
      continue;
    }
    const graph::Node* behind = value->producer();
    before_ = value->producer()->next();
    for (const Expr& condition : env_.assertions_after(expr.name())) {
      graph::Node& last = last_number_of(condition, *value->producer());
      if (&last != behind) before_ = last.next();
      behind = &last;
      add_assertion(condition);
    }
  }
  if (is_inner()) {  // what is asserted of the program's inputs stands outside
    before_ = nullptr;
    return;
  }
  before_ = last_of_sizes == nullptr ? graph_.first_node() : last_of_sizes->next();
  for (const Expr& condition : env_.assertions_after("")) add_assertion(condition);
  before_ = nullptr;
}

}  // namespace flambeau::trace
