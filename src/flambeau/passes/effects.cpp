#include "flambeau/passes/effects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/symbol/python_functions.h"

namespace flambeau::passes {
namespace {

using graph::Argument;
using graph::Node;

template <typename Visit>
void for_each_input(const Node& node, Visit&& visit) {
  for (const graph::NamedArgument& input : node.inputs()) input.argument.for_each_value(visit);
}
template <typename Visit>
void for_each_output(const Node& node, Visit&& visit) {
  for (const Argument& output : node.outputs()) output.for_each_value(visit);
}

// What it writes to beside what its schema says.
std::span<const std::string_view> hidden_writes(const Node& node, const ops::Operator& op) {
  const ops::Facts& facts = op.facts();
  if (facts.hidden_writes.empty()) return {};
  const Argument* const flag = node.input(facts.writes_when);
  const bool is_off =
      flag != nullptr && flag->is(graph::ArgumentKind::kBool) && !flag->get<graph::ArgumentKind::kBool>();
  if (is_off) return {};
  return facts.hidden_writes;
}

// A call of subgraphs does what is in them; others that are no operators may do anything.
Effects effects_of_subgraphs(const Node& node, const ops::Library& library) {
  const graph::HigherOrder* const form = node.target.higher_order();
  Effects all{.acts = false, .writes = false};
  bool has_graph = false;
  for (const graph::NamedArgument& input : node.inputs()) {
    if (!input.argument.is(graph::ArgumentKind::kGraph)) continue;
    has_graph = true;
    for (const Node& inner : input.argument.get<graph::ArgumentKind::kGraph>().graph->nodes()) {
      const Effects one = effects_of(inner, library);
      all.acts = all.acts || one.acts;
      all.writes = all.writes || (one.acts && one.writes);
      all.is_random = all.is_random || one.is_random;
    }
  }
  if (has_graph) return all;
  return {.writes = form == nullptr || form->may_write};
}

}  // namespace

Effects effects_of(const Node& node, const ops::Library& library) {
  if (const OperatorName* const name = node.target.op()) {
    const ops::Operator* const op = library.find(*name);
    if (op == nullptr) return {};
    const bool writes = op->schema.is_mutable() || !hidden_writes(node, *op).empty();
    // What gives nothing is called for what it does: assertions.
    return {.acts = writes || op->schema.returns.empty() || op->user_function != nullptr,
            .writes = writes,
            .is_random = op->is(ops::Trait::kRandom),
            .op = op};
  }
  if (ops::find_python_function(node.target.text()) != nullptr) return {.acts = false, .writes = false};
  return effects_of_subgraphs(node, library);
}

WrittenValues::WrittenValues(const graph::Graph& graph, const ops::Library& library) {
  for (const Node& node : graph.nodes()) add(node, library);
  std::vector<const graph::Value*> found(written_.begin(), written_.end());
  written_.clear();
  for (const graph::Value* const value : found) written_.insert(root(value));
}

void WrittenValues::add(const Node& node, const ops::Library& library) {
  const Effects effects = effects_of(node, library);
  if (effects.op == nullptr) {
    // A subgraph may give back what it is given; whatever else this is may also write to it.
    const graph::Value* first = nullptr;
    const auto see = [&](const graph::Value& value) {
      if (effects.writes) written_.insert(&value);
      if (first != nullptr) join(*first, value);
      first = &value;
    };
    for_each_input(node, see);
    for_each_output(node, see);
    return;
  }
  const Schema& schema = effects.op->schema;
  const std::span<const std::string_view> hidden = hidden_writes(node, *effects.op);
  size_t position = 0;
  for (const graph::NamedArgument& input : node.inputs()) {
    const std::optional<size_t> index =
        input.name.empty() ? std::optional<size_t>(position) : schema.find_argument(input.name);
    ++position;
    if (!index || *index >= schema.arguments.size()) continue;
    const SchemaArgument& argument = schema.arguments[*index];
    const bool is_written = argument.is_written() || std::ranges::count(hidden, argument.name) > 0;
    input.argument.for_each_value([&](const graph::Value& value) {
      if (is_written) written_.insert(&value);
      if (argument.alias) for_each_output(node, [&](const graph::Value& result) { join(value, result); });
    });
  }
}

bool WrittenValues::touches(const Node& node) const {
  bool found = false;
  const auto see = [&](const graph::Value& value) { found = found || contains(value); };
  for_each_input(node, see);
  for_each_output(node, see);
  return found;
}

const graph::Value* WrittenValues::root(const graph::Value* value) const {
  const graph::Value* top = value;
  for (auto at = above_.find(top); at != above_.end(); at = above_.find(top)) top = at->second;
  while (value != top) {  // the next search is shorter
    const graph::Value*& above = above_.at(value);
    value = std::exchange(above, top);
  }
  return top;
}

void WrittenValues::join(const graph::Value& a, const graph::Value& b) {
  const graph::Value* const top = root(&a);
  const graph::Value* const other = root(&b);
  if (top != other) above_.emplace(other, top);
}

std::vector<bool> written_inputs(const graph::Graph& graph, const ops::Library& library) {
  const WrittenValues written(graph, library);
  std::vector<bool> inputs;
  for (const Argument& input : graph.inputs())
    inputs.push_back(input.value() != nullptr && written.contains(*input.value()));
  return inputs;
}

}  // namespace flambeau::passes
