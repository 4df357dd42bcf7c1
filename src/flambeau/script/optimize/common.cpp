// What is computed twice is computed once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/effects.h"
#include "flambeau/script/optimize/optimize.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

class CommonNodes {
 public:
  explicit CommonNodes(ir::Graph& graph) : graph_(graph), aliases_(graph) {
    ir::for_each_node(std::as_const(graph.block()), [&](const Node& node) {
      for (const Value* written : AliasClasses::written_by(node)) written_.insert(aliases_.find(written));
    });
    for (const Value* output : graph.outputs()) note_given(output);
  }

  bool run() {
    look(graph_.block());
    return has_changed_;
  }

 private:
  // Whoever gets it may tell two results from one.
  void note_given(const Value* value) {
    std::vector<size_t> waiting = {aliases_.find(value)};
    while (!waiting.empty()) {
      const size_t next = waiting.back();
      waiting.pop_back();
      if (!given_.insert(next).second) continue;
      for (const size_t inside : aliases_.contained(next)) waiting.push_back(inside);
    }
  }

  bool is_touched(const Value* value) const {
    return is_mutable_type(nullptr, value->type()) && written_.contains(aliases_.find(value));
  }

  bool can_be_shared(const Node& node) const {
    if (!node.is(NodeKind::kOperator) || node.outputs().empty() || !node.blocks().empty()) return false;
    const Schema& schema = node.op->schema;
    if (schema.is_mutable() || has_side_effects(schema.name) || schema.is_vararg ||
        node.op->has(OperatorFlag::kNondeterministicSeeded)) {
      return false;
    }
    for (const Value* input : node.inputs()) {
      if (is_touched(input)) return false;
    }
    for (const Value* output : node.outputs()) {
      if (!is_mutable_type(nullptr, output->type())) continue;
      const size_t found = aliases_.find(output);
      // Objects that are not known may keep it.
      if (!output->type().is(TypeKind::kTensor) || written_.contains(found) || given_.contains(found) ||
          aliases_.is_shared(found)) {
        return false;
      }
    }
    return true;
  }

  static std::string key_of(const Node& node) {
    std::string key = fmt::format("{}", static_cast<const void*>(node.op));
    for (const Value* input : node.inputs()) {
      const Node& maker = *input->node();
      const bool is_literal = maker.is(NodeKind::kConstant) && maker.name.empty();
      key += is_literal ? ":" + constant_key(maker) : fmt::format(":{}", static_cast<const void*>(input));
    }
    return key;
  }

  // What outer blocks have computed is there for inner ones.
  void look(ir::Block& block) {
    std::vector<std::string> added;
    for (Node* node = block.first(); node != nullptr;) {
      Node* const next = node->next();
      for (ir::Block* inner : node->blocks()) look(*inner);
      if (can_be_shared(*node)) {
        std::string key = key_of(*node);
        const auto [known, is_new] = known_.try_emplace(key, node);
        if (is_new) {
          added.push_back(std::move(key));
        } else {
          for (size_t i = 0; i < node->outputs().size(); ++i) {
            node->output(i)->replace_uses_with(known->second->output(i));
          }
          node->destroy();
          has_changed_ = true;
        }
      }
      node = next;
    }
    for (const std::string& key : added) known_.erase(key);
  }

  ir::Graph& graph_;
  AliasClasses aliases_;
  std::unordered_set<size_t> written_;
  std::unordered_set<size_t> given_;
  std::map<std::string, Node*> known_;
  bool has_changed_ = false;
};

}  // namespace

bool eliminate_common_nodes(ir::Graph& graph) { return CommonNodes(graph).run(); }

}  // namespace flambeau::script
