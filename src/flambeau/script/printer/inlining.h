// Which nodes are printed inside of the expression that uses them, in place of an assignment of their own.
#pragma once

#include <functional>
#include <unordered_set>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

// A constant always; another node when it has one output without a name that is used once, and stands where
// reading the expression would put it: evaluation from left to right, operands before their operator. So the
// nodes before one that uses them must be those of its operands, the last one first.
class Inlining {
 public:
  // Which nodes cost nothing and may stand anywhere, beside constants.
  using IsFree = std::function<bool(const ir::Node& node)>;
  explicit Inlining(IsFree is_free = {}) : is_free_(std::move(is_free)) {}
  // Looks at a block and those inside of it, not at graphs of nodes. Throws Error(kLimit) for blocks nested
  // too deep.
  void scan(const ir::Block& block);
  bool contains(const ir::Node* node) const { return nodes_.contains(node); }
  bool contains_other_than_constant(const ir::Value* value) const {
    return !value->node()->is(ir::NodeKind::kConstant) && contains(value->node());
  }
  void clear() { nodes_.clear(); }

 private:
  void scan_node(const ir::Node& root);
  bool is_free(const ir::Node& node) const;
  const ir::Node* previous_that_counts(const ir::Node& node) const;

  IsFree is_free_;
  std::unordered_set<const ir::Node*> nodes_;
  int depth_ = 0;
};

}  // namespace flambeau::script
