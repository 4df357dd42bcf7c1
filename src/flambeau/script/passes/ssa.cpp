// Variables become values. Breaks and continues first get what their loop carries, loops their condition at
// the two places where it is asked; then stores and loads go.
#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

using ir::Block;
using ir::Graph;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

void check_depth(size_t depth) {
  if (depth > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
}

// Nodes of `block` go before `place`.
void move_nodes(Block& block, Node* place) {
  while (block.first() != nullptr) block.first()->move_before(place);
}

class LoopExits {
 public:
  explicit LoopExits(Graph& graph) : graph_(graph) {}

  void replace(Block& block) {
    Node* constant = graph_.make_constant(false, TypeKind::kBool);
    block.prepend(constant);
    const Value* outer_false = std::exchange(false_, constant->output());
    Node* outer_loop = std::exchange(loop_, nullptr);
    replace_in(block);
    false_ = const_cast<Value*>(outer_false);
    loop_ = outer_loop;
  }

 private:
  void replace_in(Block& block) {
    check_depth(++depth_);
    Node* next = nullptr;
    for (Node* node = block.first(); node != nullptr; node = next) {
      next = node->next();
      switch (node->kind()) {
        case NodeKind::kIf:
          replace_in(*node->block(0));
          replace_in(*node->block(1));
          break;
        case NodeKind::kClosure:
          replace(*node->block(0));
          break;
        case NodeKind::kLoop: {
          Node* outer = std::exchange(loop_, node);
          replace_in(*node->block(0));
          loop_ = outer;
          break;
        }
        case NodeKind::kContinueStatement:
          replace_exit(*node, /*goes_on=*/true);
          break;
        case NodeKind::kBreakStatement:
          replace_exit(*node, /*goes_on=*/false);
          break;
        default:
          break;
      }
    }
    --depth_;
  }

  void replace_exit(Node& node, bool goes_on) {
    if (loop_ == nullptr) {
      throw Error(ErrorCode::kInvalidArgument,
                  goes_on ? "a 'continue' that is in no loop" : "a 'break' that is in no loop");
    }
    Node* exit = graph_.make(NodeKind::kLoopContinuation, {}, 0);
    exit->range = node.range;
    exit->insert_after(&node);
    if (goes_on) {
      // Whether there is another turn is asked here, with what the variables are here.
      const Block& condition = *loop_->block(1);
      Node* scope = graph_.make(NodeKind::kComprehensionScope, {}, 0);
      scope->insert_before(&node);
      Block* copy = scope->add_block();
      Graph::ValueMap values;
      graph_.copy_block(condition, *copy, values);
      const auto found = values.find(condition.output(0));
      Value* answer = found == values.end() ? condition.output(0) : found->second;
      move_nodes(*copy, &node);
      scope->destroy();
      exit->add_input(answer);
    } else {
      exit->add_input(false_);
    }
    for (const Value* carried : loop_->block(0)->outputs()) {
      Node* load = graph_.make(NodeKind::kLoad);
      load->name = carried->node()->name;
      load->output()->set_type(carried->type());
      load->insert_before(exit);
      exit->add_input(load->output());
    }
    node.destroy();
  }

  Graph& graph_;
  Value* false_ = nullptr;
  Node* loop_ = nullptr;
  size_t depth_ = 0;
};

// A copy of the condition's nodes before the loop decides about the first turn; the nodes themselves, at the
// end of the body, about the next one.
void inline_condition(Node& loop) {
  Graph& graph = loop.graph();
  Block& condition = *loop.block(1);
  Block& copy = *loop.add_block();
  Graph::ValueMap values;
  graph.copy_block(condition, copy, values);
  const auto found = values.find(condition.output(0));
  Value* first = found == values.end() ? condition.output(0) : found->second;
  move_nodes(copy, &loop);
  loop.insert_input(1, first);
  loop.remove_block(2);

  Node* end = loop.block(0)->return_node();
  Value* next = condition.output(0);
  move_nodes(condition, end);
  end->insert_input(0, next);
  loop.remove_block(1);
}

void inline_conditions(Block& block, size_t depth) {
  check_depth(depth);
  for (Node* node = block.first(); node != nullptr; node = node->next()) {
    for (Block* inner : node->blocks()) inline_conditions(*inner, depth + 1);
    if (node->is(NodeKind::kLoop)) inline_condition(*node);
  }
}

class StoreEraser {
 public:
  void erase(Block& block) {
    frames_.emplace_back();
    check_depth(frames_.size());
    Node* next = nullptr;
    for (Node* node = block.first(); node != nullptr; node = next) {
      next = node->next();
      switch (node->kind()) {
        case NodeKind::kStore:
          frames_.back()[node->name] = node->input(0);
          node->destroy();
          break;
        case NodeKind::kLoad:
          node->output()->replace_uses_with(find(node->name));
          node->destroy();
          break;
        case NodeKind::kComprehensionScope:
          erase(*node->block(0));
          move_nodes(*node->block(0), node);
          node->destroy();
          break;
        default:
          for (Block* inner : node->blocks()) erase(*inner);
      }
    }
    frames_.pop_back();
  }

 private:
  Value* find(const std::string& name) const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (const auto found = frame->find(name); found != frame->end()) return found->second;
    }
    throw Error(ErrorCode::kInternal,
                fmt::format("the variable '{}' is read before it is set", printable(name)));
  }

  std::vector<std::unordered_map<std::string, Value*>> frames_;
};

}  // namespace

void replace_loop_exits(Graph& graph) { LoopExits(graph).replace(graph.block()); }
void inline_loop_conditions(Graph& graph) { inline_conditions(graph.block(), 1); }
void erase_stores(Graph& graph) { StoreEraser().erase(graph.block()); }

void convert_to_ssa(Graph& graph, const Unit& unit) {
  add_control_flow_stores(graph, unit);
  replace_loop_exits(graph);
  inline_loop_conditions(graph);
  erase_stores(graph);
  transform_exits(graph, unit);
}

}  // namespace flambeau::script
