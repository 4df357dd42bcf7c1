// In which order a graph's nodes are emitted as bytecode: where values are dropped, and which nodes are
// emitted where their result is used, so that it never leaves the stack. As PyTorch does it, since the bytes
// depend on it.
#pragma once

#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script::bytecode {

class EmissionPlan {
 public:
  // A node, or values that nobody reads from there on.
  struct Item {
    const ir::Node* node = nullptr;
    std::vector<ir::Value*> dropped = {};
    Item* previous = nullptr;  // in its block, constants left out; null at the beginning
    bool is_kept = false;      // though it drops nothing
    bool is_inline = false;
    bool is_scanned = false;

    std::span<ir::Value* const> inputs() const { return node != nullptr ? node->inputs() : dropped; }
  };

  explicit EmissionPlan(const ir::Graph& graph);

  std::span<Item* const> items(const ir::Block& block) const { return blocks_.at(&block).items; }
  bool is_inline(const ir::Value& value) const;
  // Drops count.
  size_t use_count(const ir::Value& value) const;

 private:
  struct BlockItems {
    std::vector<Item*> items;
    Item* end = nullptr;  // the return node
  };
  Item* make(const ir::Node* node);
  void collect(const ir::Block& block, int depth);
  void find_last_uses(const ir::Block& block);
  void see(const ir::Node* node, const ir::Block* block, ir::Value* value);
  void link(const ir::Block& block);
  void find_inline(const ir::Block& block, int depth);
  Item* scan(Item& item, int depth);
  const ir::Block* block_of(const ir::Value& value) const;

  std::deque<Item> all_;
  std::unordered_map<const ir::Block*, BlockItems> blocks_;
  std::unordered_map<const ir::Node*, Item*> by_node_;
  std::unordered_map<const ir::Node*, Item*> drops_behind_;
  std::unordered_map<const ir::Value*, const ir::Block*> parameters_;
  std::unordered_map<const ir::Value*, size_t> drop_counts_;
  std::unordered_map<const ir::Value*, bool> seen_;
};

}  // namespace flambeau::script::bytecode
