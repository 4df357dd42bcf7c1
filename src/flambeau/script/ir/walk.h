// Visits the nodes of a block and of the blocks inside of them, without recursion.
#pragma once

#include "flambeau/script/ir/graph.h"

namespace flambeau::script::ir {

// The node that follows in the order of the text, behind all that is inside of `node`; null behind the last
// one in `within`.
inline Node* next_outside(const Node* node, const Block& within) {
  while (node->next() == nullptr) {
    const Block* block = node->block();
    if (block == &within) return nullptr;
    node = block->owner();
    bool is_later = false;
    for (const Block* sibling : node->blocks()) {
      if (is_later && sibling->first() != nullptr) return sibling->first();
      is_later = is_later || sibling == block;
    }
  }
  return node->next();
}

// The node that follows in the order of the text: what is inside of `node` first.
inline Node* next_inside(const Node* node, const Block& within) {
  for (const Block* block : node->blocks()) {
    if (block->first() != nullptr) return block->first();
  }
  return next_outside(node, within);
}

// Calls visit(node) for every node, an outer one before those inside of it. `visit` may destroy the node that
// it is given when that has no blocks, and insert others before it.
template <typename Visit>
void for_each_node(Block& block, Visit&& visit) {
  Node* next = nullptr;
  for (Node* node = block.first(); node != nullptr; node = next) {
    const bool is_leaf = node->blocks().empty();
    if (is_leaf) next = next_outside(node, block);
    visit(*node);
    if (!is_leaf) next = next_inside(node, block);
  }
}

template <typename Visit>
void for_each_node(const Block& block, Visit&& visit) {
  for (const Node* node = block.first(); node != nullptr; node = next_inside(node, block)) visit(*node);
}

}  // namespace flambeau::script::ir
