#include "flambeau/script/passes/alias_classes.h"

#include <algorithm>
#include <utility>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Block;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

bool is_any_set(const std::vector<std::string>& sets) { return std::ranges::find(sets, "*") != sets.end(); }

bool share_a_set(const AliasInfo& a, const AliasInfo& b) {
  return std::ranges::any_of(
      a.before, [&](const std::string& set) { return std::ranges::find(b.before, set) != b.before.end(); });
}

}  // namespace

AliasClasses::AliasClasses(const ir::Graph& graph) {
  for (const Value* input : graph.inputs()) share(input);
  ir::for_each_node(graph.block(), [&](const Node& node) { add_node(node); });
  // Short ways from now on, which find() follows without changing them.
  for (auto& [value, number] : numbers_) number = root_of(value);
  // Whoever gets at a container gets at what it holds.
  std::vector<size_t> waiting;
  for (size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].is_shared && classes_[i].parent == i) waiting.push_back(i);
  }
  while (!waiting.empty()) {
    const std::vector<size_t> inside = contained(waiting.back());
    waiting.pop_back();
    for (const size_t found : inside) {
      if (!std::exchange(classes_[found].is_shared, true)) waiting.push_back(found);
    }
  }
}

size_t AliasClasses::root_of(const Value* value) {
  const auto [place, is_new] = numbers_.try_emplace(value, classes_.size());
  if (is_new) classes_.push_back({classes_.size()});
  size_t number = place->second;
  while (classes_[number].parent != number) {
    classes_[number].parent = classes_[classes_[number].parent].parent;
    number = classes_[number].parent;
  }
  return number;
}

size_t AliasClasses::find(const Value* value) const {
  size_t number = numbers_.at(value);
  while (classes_[number].parent != number) number = classes_[number].parent;
  return number;
}

std::vector<size_t> AliasClasses::contained(size_t found) const {
  std::vector<size_t> result;
  for (const Value* value : classes_[found].contained) result.push_back(find(value));
  return result;
}

void AliasClasses::unite(const Value* a, const Value* b) {
  size_t first = root_of(a);
  size_t second = root_of(b);
  if (first == second) return;
  if (classes_[first].contained.size() < classes_[second].contained.size()) std::swap(first, second);
  Entry& kept = classes_[first];
  Entry& gone = classes_[second];
  kept.is_shared = kept.is_shared || gone.is_shared;
  kept.contained.insert(kept.contained.end(), gone.contained.begin(), gone.contained.end());
  gone.contained.clear();
  gone.parent = first;
}

void AliasClasses::add_operator(const Node& node) {
  const std::vector<SchemaArgument>& arguments = node.op->schema.arguments;
  const std::vector<SchemaArgument>& returns = node.op->schema.returns;
  for (size_t i = 0; i < arguments.size() && i < node.inputs().size(); ++i) {
    const std::optional<AliasInfo>& alias = arguments[i].alias;
    if (alias && (is_any_set(alias->before) || is_any_set(alias->after))) share(node.input(i));
  }
  const bool has_effect = has_side_effects(node.op->schema.name) || node.op->schema.is_varret;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Value* output = node.output(i);
    root_of(output);
    if (has_effect) share(output);
    if (i >= returns.size() || !returns[i].alias) continue;
    const AliasInfo& alias = *returns[i].alias;
    if (is_any_set(alias.before) || is_any_set(alias.after)) share(output);
    for (size_t k = 0; k < arguments.size() && k < node.inputs().size(); ++k) {
      if (arguments[k].alias && share_a_set(alias, *arguments[k].alias)) unite(output, node.input(k));
    }
  }
}

void AliasClasses::add_node(const Node& node) {
  for (const Value* input : node.inputs()) root_of(input);
  for (const Value* output : node.outputs()) root_of(output);
  for (const Block* block : node.blocks()) {
    for (const Value* input : block->inputs()) root_of(input);
  }
  switch (node.kind()) {
    case NodeKind::kOperator:
      return add_operator(node);
    case NodeKind::kListConstruct:
    case NodeKind::kTupleConstruct:
    case NodeKind::kDictConstruct:
      for (const Value* input : node.inputs()) {
        if (is_mutable_type(nullptr, input->type())) {
          classes_[root_of(node.output())].contained.push_back(input);
        }
      }
      return;
    case NodeKind::kSetAttr:
      return share(node.input(1));
    case NodeKind::kIf:
      for (const Block* block : node.blocks()) {
        for (size_t i = 0; i < node.outputs().size(); ++i) unite(node.output(i), block->output(i));
      }
      return;
    case NodeKind::kLoop:
      for (size_t i = 0; i < node.outputs().size(); ++i) {
        unite(node.output(i), node.block(0)->output(i + 1));
        unite(node.output(i), node.block(0)->input(i + 1));
        unite(node.output(i), node.input(i + 2));
      }
      return;
    case NodeKind::kUncheckedCast:
      return unite(node.output(), node.input(0));
    case NodeKind::kCreateObject:
    case NodeKind::kUninitialized:
    case NodeKind::kIsInstance:
    case NodeKind::kToList:
    case NodeKind::kPrint:
      return;
    default:
      // Calls see all that they are given; what comes out of a call, an attribute or a tuple may be anything.
      for (const Value* output : node.outputs()) share(output);
      if (node.is(NodeKind::kCallFunction) || node.is(NodeKind::kCallMethod) || node.is(NodeKind::kFork) ||
          node.is(NodeKind::kAwaitable) || node.is(NodeKind::kEnter)) {
        for (const Value* input : node.inputs()) share(input);
      }
  }
}

std::vector<const Value*> AliasClasses::written_by(const Node& node) {
  std::vector<const Value*> written;
  if (node.is(NodeKind::kSetAttr)) written.push_back(node.input(0));
  if (!node.is(NodeKind::kOperator)) return written;
  const std::vector<SchemaArgument>& arguments = node.op->schema.arguments;
  for (size_t i = 0; i < arguments.size() && i < node.inputs().size(); ++i) {
    if (arguments[i].is_written()) written.push_back(node.input(i));
  }
  return written;
}

std::vector<const Value*> WrittenValues::written_by(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kCallFunction:
    case NodeKind::kCallMethod:
    case NodeKind::kFork:
    case NodeKind::kAwaitable:
      return {node.inputs().begin(), node.inputs().end()};
    default:
      return AliasClasses::written_by(node);
  }
}

WrittenValues::WrittenValues(const ir::Graph& graph) : classes_(graph) {
  ir::for_each_node(graph.block(), [&](const Node& node) {
    for (const Value* value : written_by(node)) {
      const size_t found = classes_.find(value);
      written_.insert(found);
      if (classes_.is_shared(found) && std::ranges::find(shared_, value->type()) == shared_.end())
        shared_.push_back(value->type());
    }
  });
}

bool WrittenValues::may_be_written(const Value* value) const {
  const size_t found = classes_.find(value);
  if (written_.contains(found)) return true;
  // What is known elsewhere may be what was written there, if it is of the same kind.
  return classes_.is_shared(found) &&
         std::ranges::any_of(shared_, [&](const Type& type) { return type.kind() == value->type().kind(); });
}

bool WrittenValues::may_be_same(const Value* written, const Value* value) const {
  const size_t a = classes_.find(written), b = classes_.find(value);
  return a == b ||
         (classes_.is_shared(a) && classes_.is_shared(b) && written->type().kind() == value->type().kind());
}

bool WrittenValues::may_write(const Node& node, const Value* value) const {
  bool found =
      std::ranges::any_of(written_by(node), [&](const Value* each) { return may_be_same(each, value); });
  for (const Block* block : node.blocks()) {
    ir::for_each_node(*block, [&](const Node& inner) {
      found = found || std::ranges::any_of(written_by(inner),
                                           [&](const Value* each) { return may_be_same(each, value); });
    });
  }
  return found;
}

}  // namespace flambeau::script
