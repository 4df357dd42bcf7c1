#include "flambeau/script/bytecode/emission_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "flambeau/base/error.h"

namespace flambeau::script::bytecode {
namespace {

using ir::NodeKind;

// Expressions deeper than that go through registers: the code means the same.
constexpr int kMostInlineDepth = 2000;

std::vector<ir::Value*> unused(std::span<ir::Value* const> values) {
  std::vector<ir::Value*> found;
  for (ir::Value* const value : values) {
    if (!value->has_uses() && !value->node()->is(NodeKind::kConstant)) found.push_back(value);
  }
  return found;
}

}  // namespace

EmissionPlan::EmissionPlan(const ir::Graph& graph) {
  collect(graph.block(), 0);
  find_last_uses(graph.block());
  for (auto& [block, items] : blocks_) link(*block);
  find_inline(graph.block(), 0);
}

EmissionPlan::Item* EmissionPlan::make(const ir::Node* node) {
  all_.push_back({node});
  return &all_.back();
}

void EmissionPlan::collect(const ir::Block& block, int depth) {
  if (depth > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
  std::vector<Item*> items;
  for (const ir::Value* const input : block.inputs()) parameters_[input] = &block;
  items.push_back(make(nullptr));
  items.back()->dropped = unused(block.inputs());
  for (const ir::Node* node = block.first(); node != nullptr; node = node->next()) {
    items.push_back(make(node));
    by_node_[node] = items.back();
    if (!node->blocks().empty()) {
      items.push_back(make(nullptr));
      drops_behind_[node] = items.back();
    }
    items.push_back(make(nullptr));
    items.back()->dropped = unused(node->outputs());
    for (const ir::Block* const inner : node->blocks()) collect(*inner, depth + 1);
  }
  blocks_[&block] = {std::move(items), make(block.return_node())};
}

const ir::Block* EmissionPlan::block_of(const ir::Value& value) const {
  const auto found = parameters_.find(&value);
  return found != parameters_.end() ? found->second : value.node()->block();
}

void EmissionPlan::see(const ir::Node* node, const ir::Block* block, ir::Value* value) {
  if (!seen_.try_emplace(value, true).second) return;
  const ir::Block* const home = block_of(*value);
  if (block == home) return;
  while (block != home) {
    node = block->owner();
    if (node == nullptr) throw Error(ErrorCode::kInternal, "a value is used outside of its block");
    block = node->block();
  }
  Item& behind = *drops_behind_.at(node);
  // A constant needs no drop, yet PyTorch makes the place for it, and nothing is inline across that.
  behind.is_kept = true;
  if (value->node()->is(NodeKind::kConstant)) return;
  if (std::ranges::find(behind.dropped, value) == behind.dropped.end()) behind.dropped.push_back(value);
}

void EmissionPlan::find_last_uses(const ir::Block& block) {
  const auto see_inputs = [&](const Item& item) {
    const std::span<ir::Value* const> inputs = item.inputs();
    for (size_t i = inputs.size(); i > 0; --i) see(item.node, &block, inputs[i - 1]);
  };
  const BlockItems& own = blocks_.at(&block);
  see_inputs(*own.end);
  for (auto item = own.items.rbegin(); item != own.items.rend(); ++item) {
    // Those behind a node are filled by what comes later in this walk.
    if ((*item)->node == nullptr) {
      const auto following = std::next(item);
      const bool is_behind_blocks = following != own.items.rend() && (*following)->node != nullptr &&
                                    !(*following)->node->blocks().empty();
      if (!is_behind_blocks) see_inputs(**item);
      continue;
    }
    for (const ir::Block* const inner : (*item)->node->blocks()) find_last_uses(*inner);
    see_inputs(**item);
  }
}

void EmissionPlan::link(const ir::Block& block) {
  BlockItems& own = blocks_.at(&block);
  std::erase_if(own.items, [](const Item* item) {
    return item->node == nullptr && item->dropped.empty() && !item->is_kept;
  });
  Item* last = nullptr;
  for (Item* const item : own.items) {
    item->previous = last;
    for (const ir::Value* const value : item->dropped) ++drop_counts_[value];
    if (item->node == nullptr || !item->node->is(NodeKind::kConstant)) last = item;
  }
  own.end->previous = last;
}

size_t EmissionPlan::use_count(const ir::Value& value) const {
  const auto found = drop_counts_.find(&value);
  return value.uses().size() + (found == drop_counts_.end() ? 0 : found->second);
}

bool EmissionPlan::is_inline(const ir::Value& value) const {
  const auto found = by_node_.find(value.node());
  return found != by_node_.end() && found->second->is_inline;
}

EmissionPlan::Item* EmissionPlan::scan(Item& item, int depth) {
  if (item.is_scanned) return nullptr;
  if (item.node != nullptr) {
    for (const ir::Block* const inner : item.node->blocks()) find_inline(*inner, depth + 1);
  }
  Item* point = item.previous;
  const std::span<ir::Value* const> inputs = item.inputs();
  for (size_t i = inputs.size(); i > 0; --i) {
    const ir::Value& value = *inputs[i - 1];
    if (point == nullptr || point->node != value.node() || depth > kMostInlineDepth) continue;
    if (use_count(value) != 1 || value.node()->outputs().size() != 1) continue;
    Item& made = *point;
    point = scan(made, depth + 1);
    made.is_inline = true;
    made.is_scanned = true;
  }
  return point;
}

void EmissionPlan::find_inline(const ir::Block& block, int depth) {
  const BlockItems& own = blocks_.at(&block);
  scan(*own.end, depth);
  for (auto item = own.items.rbegin(); item != own.items.rend(); ++item) scan(**item, depth);
}

}  // namespace flambeau::script::bytecode
