#include "flambeau/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "flambeau/base/error.h"

namespace flambeau::graph {

// ---- Node

void Node::add_input(NamedArgument input) {
  inputs_.push_back(std::move(input));
  inputs_.back().argument.attach(ValueRef::Role::kUse, this);
}

void Node::add_input(std::string input_name, Argument argument, PassedBy passed_by) {
  add_input({std::move(input_name), std::move(argument), passed_by});
}

void Node::set_input(size_t index, Argument argument) {
  inputs_.at(index).argument = std::move(argument);
  inputs_[index].argument.attach(ValueRef::Role::kUse, this);
}

const Argument* Node::input(std::string_view input_name) const {
  for (const NamedArgument& input : inputs_) {
    if (input.name == input_name) return &input.argument;
  }
  return nullptr;
}

void Node::add_output(Argument output) {
  outputs_.push_back(std::move(output));
  outputs_.back().attach(ValueRef::Role::kDefinition, nullptr);
  outputs_.back().for_each_value([this](Value& value) { graph_->define(value, this); });
}

void Node::set_output(size_t index, Argument output) {
  outputs_.at(index) = std::move(output);
  outputs_[index].attach(ValueRef::Role::kDefinition, nullptr);
  outputs_[index].for_each_value([this](Value& value) { graph_->define(value, this); });
}

const std::string* Node::find_metadata(std::string_view key) const {
  for (const auto& [name_, value] : metadata) {
    if (name_ == key) return &value;
  }
  return nullptr;
}

std::string_view Node::label() const {
  if (name) return *name;
  // Of outputs without values a stranger's node may have any number, and messages ask often.
  constexpr size_t kMostOutputs = 8;
  for (size_t i = 0; i < std::min(outputs_.size(), kMostOutputs); ++i) {
    if (const Value* const value = outputs_[i].value()) return value->name();
    if (!outputs_[i].is(ArgumentKind::kTensors)) continue;
    const auto& list = outputs_[i].get<ArgumentKind::kTensors>();
    if (!list.empty() && list.front()) return list.front()->name();
  }
  return target.text();
}

// ---- Graph

Graph::~Graph() {
  inputs_.clear();
  outputs_.clear();
  for (Node* node = first_node_; node != nullptr;) {
    Node* const next = node->next_;
    delete node;
    node = next;
  }
  // In the order they were made in, which is where they lie.
  for (const ValueList& list : values_) {
    for (Value* value = list.first; value != nullptr;) {
      Value* const next = value->next_;
      delete value;
      value = next;
    }
  }
}

void Graph::link(Node& node, Node* before) {
  node.next_ = before;
  node.previous_ = before != nullptr ? before->previous_ : last_node_;
  (node.previous_ != nullptr ? node.previous_->next_ : first_node_) = &node;
  (before != nullptr ? before->previous_ : last_node_) = &node;
  ++node_count_;
}

void Graph::unlink(Node& node) {
  (node.previous_ != nullptr ? node.previous_->next_ : first_node_) = node.next_;
  (node.next_ != nullptr ? node.next_->previous_ : last_node_) = node.previous_;
  --node_count_;
}

const Target& Graph::target_of(std::string_view text) {
  const auto found = targets_.find(text);
  if (found != targets_.end()) return found->second;
  Target made{std::string(text)};
  return targets_.emplace(made.text(), made).first->second;
}

Node& Graph::add(Target target, Node* before) {
  Node* const node = new Node(*this);
  node->target = std::move(target);
  link(*node, before);
  return *node;
}

Node& Graph::append(Target target) { return add(std::move(target), nullptr); }

Node& Graph::insert_before(Node& before, Target target) { return add(std::move(target), &before); }

void Graph::move_before(Node& node, Node* before) {
  if (before == &node) return;
  unlink(node);
  link(node, before);
}

void Graph::erase(Node& node) {
  std::vector<Value*> given;
  for (const Argument& output : node.outputs_) {
    output.for_each_value([&](Value& value) {
      if (value.producer() == &node) given.push_back(&value);
    });
  }
  for (const Value* value : given) {
    if (!value->has_uses()) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("node '{}' cannot be removed: its value '{}' is still used", node.label(), value->name()),
        "replace the uses first");
  }
  unlink(node);
  delete &node;
  for (Value* value : given) {
    value->producer_ = nullptr;
    destroy(*value);
  }
}

void Graph::number_nodes() const {
  size_t position = 0;
  for (Node* node = first_node_; node != nullptr; node = node->next_) node->position_ = position++;
}

void Graph::define(Value& value, Node* producer) {
  if (value.is_defined()) return;
  value.producer_ = producer;
  value.is_input_ = producer == nullptr;
}

void Graph::list(Value& value) {
  ValueList& list = values_[static_cast<size_t>(value.kind())];
  value.previous_ = list.last;
  value.next_ = nullptr;
  (list.last != nullptr ? list.last->next_ : list.first) = &value;
  list.last = &value;
}

void Graph::unlist(Value& value) {
  ValueList& list = values_[static_cast<size_t>(value.kind())];
  (value.previous_ != nullptr ? value.previous_->next_ : list.first) = value.next_;
  (value.next_ != nullptr ? value.next_->previous_ : list.last) = value.previous_;
}

Value& Graph::value(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return *found->second;
  std::unique_ptr<Value> value(new Value(std::string(name)));
  by_name_.emplace(value->name_, value.get());
  list(*value);
  return *value.release();
}

Value* Graph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

Value& Graph::add_value(const std::string& name, Meta meta) {
  if (find(name) != nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the graph has a value '{}' already", printable(name)));
  }
  Value& added = value(name);
  set_meta(added, std::move(meta));
  return added;
}

void Graph::set_meta(Value& value, Meta meta) {
  if (kind_of(meta) == value.kind()) {
    value.meta_ = std::move(meta);
    return;
  }
  unlist(value);
  value.meta_ = std::move(meta);
  list(value);
}

void Graph::rename(Value& value, std::string name) {
  if (value.name_ == name) return;
  rename_all({{&value, std::move(name)}});
}

void Graph::rename_all(const std::vector<std::pair<Value*, std::string>>& names) {
  for (const auto& [value, name] : names) by_name_.erase(value->name_);
  for (const auto& [value, name] : names) value->name_ = name;
  const std::string* taken = nullptr;
  for (const auto& [value, name] : names) {
    // Even after a clash every value stays owned, under some name.
    while (!by_name_.emplace(value->name_, value).second) {
      taken = &name;
      value->name_ += '_';
    }
  }
  if (taken != nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the graph has a value '{}' already", printable(*taken)));
  }
}

void Graph::destroy(Value& value) {
  unlist(value);
  by_name_.erase(value.name_);
  delete &value;
}

void Graph::erase(Value& value) {
  if (value.refs().begin() != value.refs().end()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the value '{}' cannot be removed: it is still referred to", printable(value.name())));
  }
  destroy(value);
}

std::string Graph::unique_name(std::string_view base) const {
  if (find(base) == nullptr) return std::string(base);
  // A base that ends in a number counts on from it, as PyTorch does: "add_1" gives "add_2".
  const size_t digits = base.find_last_not_of("0123456789") + 1;
  std::string stem(base);
  size_t suffix = 1;
  if (digits >= 2 && digits < base.size() && base[digits - 1] == '_' && base.size() - digits < 10) {
    stem = base.substr(0, digits - 1);
    std::from_chars(base.data() + digits, base.data() + base.size(), suffix);
    ++suffix;
  }
  size_t& next = next_suffix_[stem];
  next = std::max(next, suffix);
  for (;; ++next) {
    std::string name = fmt::format("{}_{}", stem, next);
    if (find(name) == nullptr) return name;
  }
}

std::vector<Value*> Graph::values_of(ValueKind kind) const {
  std::vector<Value*> values;
  for (Value* value = values_[static_cast<size_t>(kind)].first; value != nullptr; value = value->next_) {
    values.push_back(value);
  }
  return values;
}

void Graph::sort_values_by_name() {
  for (size_t kind = 0; kind < kValueKinds; ++kind) {
    std::vector<Value*> values = values_of(static_cast<ValueKind>(kind));
    std::sort(values.begin(), values.end(),
              [](const Value* a, const Value* b) { return a->name_ < b->name_; });
    values_[kind] = {};
    for (Value* value : values) list(*value);
  }
}

void Graph::add_input(Argument input) {
  inputs_.push_back(std::move(input));
  inputs_.back().attach(ValueRef::Role::kDefinition, nullptr);
  inputs_.back().for_each_value([this](Value& value) { define(value, nullptr); });
}

void Graph::add_output(Argument output) {
  outputs_.push_back(std::move(output));
  outputs_.back().attach(ValueRef::Role::kUse, nullptr);
}

std::vector<Argument> Graph::take_inputs() {
  for (Argument& input : inputs_) {
    input.for_each_value([](Value& value) { value.is_input_ = false; });
    input.attach(ValueRef::Role::kMention, nullptr);
  }
  return std::exchange(inputs_, {});
}

std::vector<Argument> Graph::take_outputs() {
  for (Argument& output : outputs_) output.attach(ValueRef::Role::kMention, nullptr);
  return std::exchange(outputs_, {});
}

}  // namespace flambeau::graph
