#include "flambeau/graph/text/lines.h"

#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/graph/text/names.h"

namespace flambeau::graph {

const std::vector<ValueRef>* value_list(const Argument& argument) {
  return argument.is(ArgumentKind::kTensors) ? &argument.get<ArgumentKind::kTensors>() : nullptr;
}

OutputForm output_form(const Node& node) {
  const std::vector<Argument>& outputs = node.outputs();
  if (outputs.empty()) return OutputForm::kNothing;
  if (outputs.size() > 1) return OutputForm::kMany;
  if (outputs[0].is(ArgumentKind::kNone)) return OutputForm::kNone;
  if (node.target.is_higher_order() && !node.is_hop_single_tensor_return.value_or(false))
    return OutputForm::kMany;
  if (outputs[0].value() != nullptr) return OutputForm::kOne;
  return value_list(outputs[0]) != nullptr ? OutputForm::kList : OutputForm::kMany;
}

// Follows PyTorch's loader step by step: the names it makes up depend on the order.
class LineMaker {
 public:
  LineMaker(const Graph& graph, const GraphSignature* signature, bool plain, TextLines& to)
      : graph_(graph), signature_(signature), plain_(plain), to_(to) {
    if (plain_) return;
    for (size_t kind = 0; kind < kValueKinds; ++kind) {
      for (const Value* value : graph.values_of(static_cast<ValueKind>(kind))) names_.reserve(value->name());
    }
  }

  void make() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) input(graph_.inputs()[i], i);
    to_.input_count_ = to_.lines_.size();
    for (const Node& node : graph_.nodes()) call(node);
    for (const Argument& output : graph_.outputs()) use(output, nullptr);
  }

 private:
  TextLine& add(TextLine::Kind kind, std::string_view name) {
    TextLine& line = to_.lines_.emplace_back();
    line.kind = kind;
    line.name = names_.create(name);
    return line;
  }

  uint32_t last() const { return static_cast<uint32_t>(to_.lines_.size() - 1); }

  // The line gives this value, and has its name.
  void give(TextLine& line, const Value& value) {
    line.value = &value;
    line.name = value.name();
    to_.by_thing_.emplace(&value, last());
  }

  TextLine& add_value(TextLine::Kind kind, const Value& value) {
    if (plain_) {
      TextLine& line = add(kind, value.name());
      give(line, value);
      return line;
    }
    TextLine& line = to_.lines_.emplace_back();
    line.kind = kind;
    give(line, value);
    return line;
  }

  void input(const Argument& argument, size_t index) {
    if (const Value* const value = argument.value()) {
      add_value(TextLine::Kind::kInput, *value).argument = &argument;
      return;
    }
    std::string name;
    if (signature_ != nullptr && index < signature_->inputs.size()) {
      const InputSpec& spec = signature_->inputs[index];
      if (spec.kind == InputKind::kConstantInput)
        name = spec.target;
      else if (const Value* const value = spec.argument.value())
        name = value->name();
    }
    if (name.empty()) name = fmt::format("arg{}", index);
    TextLine& line = add(TextLine::Kind::kInput, name);
    line.argument = &argument;
    line.input_name = std::move(name);
  }

  // Notes what `line` uses; null for the graph's outputs, which use too.
  void use(const Argument& argument, TextLine* line) {
    const auto note = [&](uint32_t used) {
      if (used == TextLine::kNoLine) return;
      to_.lines_[used].is_used = true;
      if (line == nullptr) return;
      if (seen_.insert(used).second) line->uses.push_back(used);
    };
    if (argument.is(ArgumentKind::kGraph)) return note(to_.line_of(argument.get<ArgumentKind::kGraph>()));
    argument.for_each_value([&](const Value& value) { note(to_.line_of(value)); });
    if (argument.is(ArgumentKind::kStringToArgument)) {
      for (const auto& [key, item] : *argument.get<ArgumentKind::kStringToArgument>()) {
        if (item.is(ArgumentKind::kGraph)) use(item, line);
      }
    }
  }

  void subgraphs(const Argument& argument, const Node& node) {
    if (argument.is(ArgumentKind::kGraph)) {
      const GraphArgument& inner = argument.get<ArgumentKind::kGraph>();
      TextLine& line = add(TextLine::Kind::kSubgraph, inner.name);
      line.node = &node;
      line.argument = &argument;
      to_.by_thing_.emplace(&inner, last());
    } else if (argument.is(ArgumentKind::kStringToArgument)) {
      for (const auto& [key, item] : *argument.get<ArgumentKind::kStringToArgument>()) subgraphs(item, node);
    }
  }

  void call(const Node& node) {
    for (const NamedArgument& input : node.inputs()) subgraphs(input.argument, node);
    const OutputForm form = output_form(node);
    std::string name = node.name.value_or("");
    const Value* const only = form == OutputForm::kOne ? node.outputs()[0].value() : nullptr;
    if (name.empty()) {
      // The loader names a call after a tensor, or a number that an operator of Python gives.
      const bool is_named =
          only != nullptr && (only->kind() == ValueKind::kTensor || !node.target.is_in_torch_ops());
      name = is_named ? only->name() : name_for_target(node.target);
    }
    if (plain_ || only == nullptr) {
      add(TextLine::Kind::kCall, name);
      if (only != nullptr) give(to_.lines_.back(), *only);
      if (form == OutputForm::kNone && plain_) {
        to_.lines_.back().name = names_.create(name_for_target(node.target) + "_unused");
      }
    } else {
      add_value(TextLine::Kind::kCall, *only);
    }
    TextLine& line = to_.lines_.back();
    line.node = &node;
    const uint32_t base = last();
    seen_.clear();
    for (const NamedArgument& input : node.inputs()) use(input.argument, &line);
    if (form == OutputForm::kList) {
      items(*value_list(node.outputs()[0]), base, node);
    } else if (form == OutputForm::kMany) {
      for (size_t i = 0; i < node.outputs().size(); ++i) output(node.outputs()[i], base, i, node);
    }
  }

  void item_of(TextLine& line, uint32_t base, size_t index, const Node& node) {
    line.kind = TextLine::Kind::kItem;
    line.node = &node;
    line.base = base;
    line.index = index;
    line.uses.push_back(base);
    to_.lines_[base].is_used = true;
  }

  void output(const Argument& argument, uint32_t base, size_t index, const Node& node) {
    if (const Value* const value = argument.value()) {
      item_of(add_value(TextLine::Kind::kItem, *value), base, index, node);
    } else {
      const bool is_none = argument.is(ArgumentKind::kNone);
      item_of(add(TextLine::Kind::kItem, is_none ? "as_none" : "getitem"), base, index, node);
    }
    to_.lines_.back().argument = &argument;
    if (const std::vector<ValueRef>* const list = value_list(argument)) items(*list, last(), node);
  }

  void items(const std::vector<ValueRef>& list, uint32_t base, const Node& node) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i]) item_of(add_value(TextLine::Kind::kItem, *list[i]), base, i, node);
    }
  }

  const Graph& graph_;
  const GraphSignature* signature_;
  bool plain_;
  TextLines& to_;
  TextNamespace names_;
  std::unordered_set<uint32_t> seen_;  // what the line at hand uses
};

TextLines::TextLines(const Graph& graph, const GraphSignature* signature, bool plain_names) {
  LineMaker(graph, signature, plain_names, *this).make();
}

uint32_t TextLines::line_of(const Value& value) const {
  const auto found = by_thing_.find(&value);
  return found == by_thing_.end() ? TextLine::kNoLine : found->second;
}

uint32_t TextLines::line_of(const GraphArgument& graph) const {
  const auto found = by_thing_.find(&graph);
  return found == by_thing_.end() ? TextLine::kNoLine : found->second;
}

}  // namespace flambeau::graph
