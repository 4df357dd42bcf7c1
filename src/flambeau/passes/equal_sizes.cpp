#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/passes/effects.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::Node;
using graph::Value;
using graph::ValueRef;

// The number that a node gives, where that is all it does; null for others.
Value* number_of(const Node& node, const ops::Library& library) {
  if (node.outputs().size() != 1 || !effects_of(node, library).is_pure()) return nullptr;
  Value* const value = node.outputs()[0].value();
  return value != nullptr && std::holds_alternative<graph::SymInt>(value->meta()) ? value : nullptr;
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
    return has_changed_;
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
    const auto& number = std::get<graph::SymInt>(value.meta());
    if (number.is_literal()) {
      if (!replace_by_literal(value, number.literal())) return;
    } else {
      Value* const first = see(value);
      if (first == nullptr) return;
      value.replace_uses_with(*first);
    }
    graph.erase(node);
    has_changed_ = true;
  }

  // Every use: nothing happens when one is of a kind that takes no literal.
  static bool replace_by_literal(Value& value, int64_t literal) {
    std::vector<Node*> users;
    for (const ValueRef& ref : value.refs()) {
      if (ref.role() == ValueRef::Role::kDefinition) continue;
      if (ref.user() == nullptr) return false;  // an output, a mention
      users.push_back(ref.user());
    }
    for (Node* const user : users) {
      for (size_t i = 0; i < user->inputs().size(); ++i) {
        const Argument& input = user->inputs()[i].argument;
        bool refers = false;
        input.for_each_value([&](const Value& other) { refers = refers || &other == &value; });
        if (refers && !input.is(ArgumentKind::kSymInt) && !input.is(ArgumentKind::kSymInts)) return false;
      }
    }
    for (Node* const user : users) replace_in(*user, value, literal);
    return true;
  }

  static void replace_in(Node& user, const Value& value, int64_t literal) {
    for (size_t i = 0; i < user.inputs().size(); ++i) {
      const Argument& input = user.inputs()[i].argument;
      if (input.value() == &value) {
        user.set_input(i, Argument::make<ArgumentKind::kInt>(literal));
      } else if (input.is(ArgumentKind::kSymInts)) {
        std::vector<graph::SymArgument<int64_t>> numbers;
        std::vector<int64_t> literals;
        for (const auto& item : input.get<ArgumentKind::kSymInts>()) {
          if (item.ref && item.ref.get() != &value) {
            numbers.emplace_back(*item.ref);
          } else {
            literals.push_back(item.ref ? literal : item.literal);
            numbers.emplace_back(literals.back());
          }
        }
        user.set_input(i, literals.size() == numbers.size()
                              ? Argument::make<ArgumentKind::kInts>(std::move(literals))
                              : Argument::make<ArgumentKind::kSymInts>(std::move(numbers)));
      }
    }
  }

  const ops::Library& library_;
  std::unordered_map<std::string, Value*> first_;
  bool has_changed_ = false;
};

}  // namespace

bool merge_equal_sizes(graph::ExportedProgram& program, const ops::Library& library) {
  return Merging(library).run(program.graph());
}

}  // namespace flambeau::passes
