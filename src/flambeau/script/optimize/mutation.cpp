// Writes that nobody but the graph can see are results of their own.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/rewrites/foldings.h"
#include "flambeau/script/optimize/optimize.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

// The same operator that writes to nothing; null when there is none.
const OperatorEntry* functional_twin(const OperatorEntry& op, const Unit& unit) {
  const std::string_view name = functional_name(op.schema.name.name);
  if (name.empty()) return nullptr;
  const OperatorEntry* const twin = unit.operators().find(name, op.schema.name.overload);
  if (twin == nullptr || twin->schema.is_mutable() || twin->schema.is_view() ||
      twin->schema.arguments.size() != op.schema.arguments.size()) {
    return nullptr;
  }
  for (size_t i = 0; i < op.schema.arguments.size(); ++i) {
    if (!(twin->schema.arguments[i].type == op.schema.arguments[i].type)) return nullptr;
  }
  return twin;
}

// Made here and new, so that all that knows it are the values of its class.
bool is_made_here(const Node& node) {
  return node.is(NodeKind::kOperator) && !node.op->schema.is_view() && !node.op->schema.is_mutable();
}

// Each value's class, and how many values that are no results of writes are in it.
class Sharing {
 public:
  explicit Sharing(const ir::Graph& graph) : aliases_(graph) {
    const auto add = [&](const Value* value) { ++counts_[aliases_.find(value)]; };
    for (const Value* input : graph.inputs()) add(input);
    ir::for_each_node(graph.block(), [&](const Node& node) {
      for (const ir::Block* block : node.blocks()) {
        for (const Value* input : block->inputs()) add(input);
      }
      const bool is_write = node.is(NodeKind::kOperator) && node.op->schema.is_mutable();
      for (const Value* output : node.outputs()) {
        if (!is_write) add(output);
      }
    });
  }
  bool is_alone(const Value* value) const {
    if (made_.contains(value)) return true;
    const size_t found = aliases_.find(value);
    const auto count = counts_.find(found);
    return !aliases_.is_shared(found) && count != counts_.end() && count->second == 1;
  }
  // A result of its own in place of a write to one that was alone.
  void note_made(const Value* value) { made_.insert(value); }

 private:
  AliasClasses aliases_;
  std::unordered_map<size_t, size_t> counts_;
  std::unordered_set<const Value*> made_;
};

// Types and sizes decide whether a result fits into what it is written to: only operators that give what
// their first argument is can be changed. With a second tensor, the result may be of another type.
bool keeps_type(const Node& node) {
  size_t tensors = 0;
  for (const SchemaArgument& argument : node.op->schema.arguments) {
    if (argument.type.without_optional().is(TypeKind::kTensor)) ++tensors;
  }
  if (tensors != 1) return false;
  // A number of another kind, too: ints divided are floats.
  return std::ranges::none_of(node.op->schema.arguments, [](const SchemaArgument& argument) {
    return argument.type.without_optional().is(TypeKind::kNumber);
  });
}

}  // namespace

bool remove_tensor_mutation(ir::Graph& graph, const Unit& unit) {
  bool has_changed = false;
  Sharing sharing(graph);
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (!node.is(NodeKind::kOperator) || node.outputs().size() != 1 || node.inputs().empty()) return;
    const OperatorEntry* const twin = functional_twin(*node.op, unit);
    if (twin == nullptr || !keeps_type(node)) return;
    Value* const written = node.input(0);
    const Node* maker = written->node();
    // What an earlier write gave is what was written to.
    if (maker->block() != node.block() || !is_made_here(*maker) || !sharing.is_alone(written)) return;
    Node* const made = graph.make_operator(*twin, node.inputs());
    made->range = node.range;
    made->frame = node.frame;
    made->insert_before(&node);
    sharing.note_made(made->output());
    written->replace_uses_after(&node, made->output());
    node.output()->replace_uses_with(made->output());
    node.destroy();
    has_changed = true;
  });
  return has_changed;
}

bool remove_list_mutation(ir::Graph& graph) {
  bool has_changed = false;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (!node.is(NodeKind::kOperator) || !is_append(node.op->schema.name.name) || node.inputs().size() != 2)
      return;
    Value* const list = node.input(0);
    Node& maker = *list->node();
    if (!maker.is(NodeKind::kListConstruct) || maker.block() != node.block()) return;
    // Nobody has seen it without the element.
    const bool is_first = std::ranges::all_of(list->uses(), [&](const ir::Use& use) {
      return use.user == &node ? use.index == 0 : node.is_before(use.user);
    });
    if (!is_first) return;
    std::vector<Value*> items(maker.inputs().begin(), maker.inputs().end());
    items.push_back(node.input(1));
    Node* const made = graph.make(NodeKind::kListConstruct, items);
    made->output()->set_type(list->type());
    made->range = maker.range;
    made->frame = maker.frame;
    made->insert_before(&node);
    for (Value* output : node.outputs()) output->replace_uses_with(made->output());
    list->replace_uses_after(&node, made->output());
    node.destroy();
    has_changed = true;
  });
  return has_changed;
}

bool inline_forks(ir::Graph& graph) {
  bool has_changed = false;
  std::vector<Node*> forks;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (node.is(NodeKind::kFork) && node.subgraph != nullptr) forks.push_back(&node);
  });
  for (Node* fork : forks) {
    const auto uses = std::vector<ir::Use>(fork->output()->uses().begin(), fork->output()->uses().end());
    const bool is_only_waited_for = std::ranges::all_of(uses, [](const ir::Use& use) {
      return use.user->is(NodeKind::kOperator) && is_wait(use.user->op->schema.name.name);
    });
    if (!is_only_waited_for || fork->subgraph->outputs().size() != 1) continue;
    graph.set_insert_point(fork);
    const std::vector<Value*> results = graph.inline_graph(*fork->subgraph, fork->inputs());
    for (const ir::Use& use : uses) {
      use.user->output()->replace_uses_with(results.at(0));
      use.user->destroy();
    }
    fork->destroy();
    has_changed = true;
  }
  return has_changed;
}

}  // namespace flambeau::script
