// A flat graph: nodes in the order in which they run, and the values between them. It owns both; arguments
// refer to values by references that keep the uses right. All edits are constant time, or linear in what they
// touch.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flambeau/graph/argument.h"
#include "flambeau/graph/meta.h"
#include "flambeau/graph/target.h"
#include "flambeau/graph/value.h"

namespace flambeau::graph {

using StringMap = std::vector<std::pair<std::string, std::string>>;  // in the file's order

// One call of an operator.
class Node {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Target target;
  // What PyTorch called the node; files before schema 8.14 do not say.
  std::optional<std::string> name;
  StringMap metadata;
  std::optional<bool> is_hop_single_tensor_return;
  Extras extras;

  const std::vector<NamedArgument>& inputs() const { return inputs_; }
  const std::vector<Argument>& outputs() const { return outputs_; }
  void add_input(NamedArgument input);
  void add_input(std::string input_name, Argument argument, PassedBy passed_by = PassedBy::kPositional);
  void set_input(size_t index, Argument argument);
  // For changes inside an argument: its references may be set to other values, and keep their role.
  Argument& mutable_input(size_t index) { return inputs_.at(index).argument; }
  void remove_input(size_t index) { inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(index)); }
  // The argument of that name; null when it is not given.
  const Argument* input(std::string_view input_name) const;
  // Its values are produced here from now on, unless another node produces them already: then the graph is
  // broken, and lint() says so.
  void add_output(Argument output);
  // For another form of the same output: it must refer to the same values.
  void set_output(size_t index, Argument output);
  // Null when there is no such entry.
  const std::string* find_metadata(std::string_view key) const;
  // What to call it in a message: its name, or the first value it gives, or its target.
  std::string_view label() const;

  Graph& graph() const { return *graph_; }
  // Null at either end.
  Node* next() const { return next_; }
  Node* previous() const { return previous_; }
  // The place in the graph, as of the last Graph::number_nodes().
  size_t position() const { return position_; }

 private:
  friend class Graph;
  explicit Node(Graph& graph) : graph_(&graph) {}

  Graph* graph_;
  std::vector<NamedArgument> inputs_;
  std::vector<Argument> outputs_;
  Node* previous_ = nullptr;
  Node* next_ = nullptr;
  size_t position_ = 0;
};

// A range over a chain of T, linked by next().
template <typename T>
class Chain {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(T* at) : at_(at) {}
    T& operator*() const { return *at_; }
    T* operator->() const { return at_; }
    Iterator& operator++() {
      at_ = at_->next();
      return *this;
    }
    Iterator operator++(int) {
      const Iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const Iterator&) const = default;

   private:
    T* at_ = nullptr;
  };
  explicit Chain(T* first) : first_(first) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(); }
  bool empty() const { return first_ == nullptr; }

 private:
  T* first_;
};

class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  // A deep copy, subgraphs too.
  std::unique_ptr<Graph> clone() const;

  // A higher-order operator's graph that gives one tensor rather than a list of them.
  bool is_single_tensor_return = false;
  Extras extras;

  // ---- nodes
  Chain<Node> nodes() { return Chain<Node>(first_node_); }
  Chain<const Node> nodes() const { return Chain<const Node>(first_node_); }
  size_t node_count() const { return node_count_; }
  // Null when there is none.
  Node* first_node() const { return first_node_; }
  Node* last_node() const { return last_node_; }
  // Nodes of the same target share what was read of it.
  Node& append(std::string_view target) { return append(target_of(target)); }
  Node& append(Target target);
  Node& insert_before(Node& before, std::string_view target) {
    return insert_before(before, target_of(target));
  }
  Node& insert_before(Node& before, Target target);
  // Null moves it to the end.
  void move_before(Node& node, Node* before);
  // The node and the values it gives. Throws Error(kInvalidArgument) when one of them is still used.
  void erase(Node& node);
  void number_nodes() const;

  // ---- values
  // Throws Error(kInvalidArgument) when the name is taken.
  Value& add_value(const std::string& name, Meta meta);
  // The value of that name, a new one that nothing describes if need be: for readers, which meet names in any
  // order.
  Value& value(std::string_view name);
  Value* find(std::string_view name) const;  // null when there is none
  // Puts it at the end of its kind's list when the kind changes.
  void set_meta(Value& value, Meta meta);
  // Throws Error(kInvalidArgument) when the name is taken.
  void rename(Value& value, std::string name);
  // Throws Error(kInvalidArgument) when something refers to it.
  void erase(Value& value);
  // `base`, or else `base_1`, `base_2`...: the first that is free, as PyTorch names nodes.
  std::string unique_name(std::string_view base) const;
  // The values of one kind in the order in which a file lists them: that of their description.
  std::vector<Value*> values_of(ValueKind kind) const;
  size_t value_count() const { return by_name_.size(); }
  // How many values are to come: saves work, nothing else.
  void reserve_values(size_t count) { by_name_.reserve(count); }
  // By their names: the order the canonical form lists them in.
  void sort_values_by_name();
  // Renames every value at once; the names must be different from each other. Throws Error(kInvalidArgument).
  void rename_all(const std::vector<std::pair<Value*, std::string>>& names);

  // ---- inputs and outputs
  const std::vector<Argument>& inputs() const { return inputs_; }
  const std::vector<Argument>& outputs() const { return outputs_; }
  void add_input(Argument input);
  void add_output(Argument output);
  std::vector<Argument> take_inputs();
  std::vector<Argument> take_outputs();

  // Calls visit(graph) for this graph and every graph inside it, outermost first.
  template <typename Visit>
  void for_each_graph(Visit&& visit) const;

  // What is wrong with the structure itself: values used before they are given or given twice, or by nobody,
  // uses that are not registered. Empty when all is well. What a program must fulfil beyond that is for
  // verify().
  std::vector<std::string> lint() const;

 private:
  friend class Node;
  const Target& target_of(std::string_view text);
  Node& add(Target target, Node* before);
  // Null: it is an input.
  void define(Value& value, Node* producer);
  void link(Node& node, Node* before);
  void unlink(Node& node);
  void list(Value& value);
  void unlist(Value& value);
  void destroy(Value& value);

  struct ValueList {
    Value* first = nullptr;
    Value* last = nullptr;
  };
  std::vector<Argument> inputs_;
  std::vector<Argument> outputs_;
  Node* first_node_ = nullptr;
  Node* last_node_ = nullptr;
  size_t node_count_ = 0;
  ValueList values_[kValueKinds];
  std::unordered_map<std::string_view, Value*> by_name_;  // owns; keyed by the value's own name
  std::unordered_map<std::string_view, Target> targets_;  // keyed by the target's own text
  mutable std::unordered_map<std::string, size_t> next_suffix_;
};

template <typename Visit>
void Graph::for_each_graph(Visit&& visit) const {
  // Not recursive: a stranger's file decides how deep it goes.
  std::vector<const Graph*> open = {this};
  while (!open.empty()) {
    const Graph* const graph = open.back();
    open.pop_back();
    visit(*graph);
    std::vector<const Graph*> inner;
    for (const Node& node : graph->nodes()) {
      for (const NamedArgument& input : node.inputs()) {
        if (!input.argument.is(ArgumentKind::kGraph)) continue;
        inner.push_back(input.argument.get<ArgumentKind::kGraph>().graph.get());
      }
    }
    open.insert(open.end(), inner.rbegin(), inner.rend());
  }
}

}  // namespace flambeau::graph
