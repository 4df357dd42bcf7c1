#include <optional>
#include <string>
#include <unordered_map>

#include "flambeau/graph/literals.h"
#include "flambeau/graph/program.h"
#include "flambeau/passes/effects.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {
namespace {

using graph::Argument;
using graph::Node;
using graph::Value;

// The number that a node gives, where that is all it does; null for others.
Value* number_of(const Node& node, const ops::Library& library) {
  if (node.outputs().size() != 1 || !effects_of(node, library).is_pure()) return nullptr;
  Value* const value = node.outputs()[0].value();
  return value != nullptr && std::holds_alternative<graph::SymInt>(value->meta()) ? value : nullptr;
}

std::optional<int64_t> literal_of(const graph::SymInt& number) {
  if (number.is_literal()) return number.literal();
  const symbolic::Expr& expr = number.expr().expr();
  return expr.is_integer() ? std::optional(expr.integer()) : std::nullopt;
}

class Merging {
 public:
  explicit Merging(const ops::Library& library) : library_(library) {}

  bool run(graph::Graph& graph) {
    for (const Argument& input : graph.inputs()) {
      if (Value* const value = input.value()) see(*value);
    }
    for (Node* node = graph.first_node(); node != nullptr;) {
      Node* const next = node->next();
      if (Value* const value = number_of(*node, library_)) join(graph, *node, *value);
      node = next;
    }
    return graph::replace_by_literals(graph, literals_) || has_changed_;
  }

 private:
  // Null when it is the first.
  Value* see(Value& value) {
    const auto* const number = std::get_if<graph::SymInt>(&value.meta());
    if (number == nullptr || number->is_literal()) return nullptr;
    Value* const first = first_.try_emplace(number->expr().text, &value).first->second;
    return first == &value ? nullptr : first;
  }

  void join(graph::Graph& graph, Node& node, Value& value) {
    if (const std::optional<int64_t> known = literal_of(std::get<graph::SymInt>(value.meta()))) {
      literals_.emplace(&value, *known);  // its node is dead then, where nobody else uses it
      return;
    }
    Value* const first = see(value);
    if (first == nullptr) return;
    value.replace_uses_with(*first);
    graph.erase(node);
    has_changed_ = true;
  }

  const ops::Library& library_;
  std::unordered_map<std::string, Value*> first_;
  std::unordered_map<const Value*, int64_t> literals_;
  bool has_changed_ = false;
};

}  // namespace

bool merge_equal_sizes(graph::ExportedProgram& program, const ops::Library& library) {
  return Merging(library).run(program.graph());
}

}  // namespace flambeau::passes
