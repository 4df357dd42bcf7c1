// Exits in the middle of a block (breaks, continues, early returns) become flags: behind what may have left,
// the rest of a block runs only if it has not. Each is done by itself, loops' exits before returns. Blocks
// that always throw need no flag.
#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

using ir::Block;
using ir::Graph;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

enum class ExitStatus : uint8_t { kWill, kMight, kWont, kThrows };

struct Exit {
  ExitStatus status = ExitStatus::kWont;
  Value* flag = nullptr;  // whether it left, when that is known only while it runs
  std::vector<Value*> values;
};

class ExitTransformer {
 public:
  ExitTransformer(Graph& graph, const Unit& unit, NodeKind exit_kind)
      : graph_(graph), unit_(unit), exit_kind_(exit_kind) {
    Node* first = graph.block().first();
    Node* place = first != nullptr ? first : graph.block().return_node();
    Node* yes = graph.make_constant(true, TypeKind::kBool);
    Node* no = graph.make_constant(false, TypeKind::kBool);
    yes->insert_before(place);
    no->insert_before(place);
    true_ = yes->output();
    false_ = no->output();
    // Made first, so that it stands behind the others.
    uninitialized(TypeKind::kBool);
  }

  void run() { transform(graph_.block()); }

 private:
  Value* flag_of(const Exit& exit) {
    switch (exit.status) {
      case ExitStatus::kWill:
        return true_;
      case ExitStatus::kWont:
        return false_;
      case ExitStatus::kThrows:
        return uninitialized(TypeKind::kBool);
      case ExitStatus::kMight:
        break;
    }
    return exit.flag;
  }

  // One for each type, at the beginning of the graph: it is never read.
  Value* uninitialized(const Type& type) {
    Value*& value = unset_[type.to_string()];
    if (value == nullptr) {
      Node* node = graph_.make(NodeKind::kUninitialized);
      node->output()->set_type(type);
      graph_.block().prepend(node);
      value = node->output();
    }
    return value;
  }

  std::vector<Value*> uninitialized_like(std::span<Value* const> values) {
    std::vector<Value*> result;
    for (const Value* value : values) result.push_back(uninitialized(value->type()));
    return result;
  }

  void add_if_outputs(Node& node, std::span<Value* const> first, std::span<Value* const> second) {
    for (size_t i = 0; i < first.size(); ++i) {
      node.block(0)->add_output(first[i]);
      node.block(1)->add_output(second[i]);
      node.add_output(*unify_types(&unit_, first[i]->type(), second[i]->type(), /*default_to_union=*/true));
    }
  }

  static ExitStatus status_of_if(ExitStatus first, ExitStatus second) {
    if (first == ExitStatus::kThrows) return second;
    if (second == ExitStatus::kThrows) return first;
    return first == second ? first : ExitStatus::kMight;
  }

  Exit transform_if(Node& node) {
    Exit first = transform(*node.block(0));
    Exit second = transform(*node.block(1));
    const ExitStatus status = status_of_if(first.status, second.status);
    if (status == ExitStatus::kThrows || status == ExitStatus::kWont) return {status, nullptr, {}};
    const auto leaves = [](const Exit& exit) {
      return exit.status == ExitStatus::kWill || exit.status == ExitStatus::kMight;
    };
    // What the other branch would give is never used.
    if (!leaves(first)) {
      first.values = uninitialized_like(second.values);
    } else if (!leaves(second)) {
      second.values = uninitialized_like(first.values);
    }
    Exit exit{status, nullptr, {}};
    if (status == ExitStatus::kMight) {
      Value* first_flag = flag_of(first);
      Value* second_flag = flag_of(second);
      add_if_outputs(node, std::span(&first_flag, 1), std::span(&second_flag, 1));
      exit.flag = node.outputs().back();
    }
    add_if_outputs(node, first.values, second.values);
    const auto values = node.outputs().last(first.values.size());
    exit.values.assign(values.begin(), values.end());
    return exit;
  }

  // A loop that was left from inside has no further turn, and says so to the outside.
  Exit transform_loop(Node& node) {
    Block& body = *node.block(0);
    const Exit inner = transform(body);
    // It may have no turn at all, so nothing is certain.
    if (inner.status == ExitStatus::kWont || inner.status == ExitStatus::kThrows) return {};
    Value* flag = flag_of(inner);
    Node* branch = graph_.make(NodeKind::kIf, std::span(&flag, 1), 0);
    body.append(branch);
    branch->add_block()->add_output(false_);
    branch->add_block()->add_output(body.output(0));
    body.replace_output(0, branch->add_output(TypeKind::kBool));

    node.add_input(false_);
    body.add_input(TypeKind::kBool);
    body.add_output(flag);
    Exit exit{ExitStatus::kMight, node.add_output(TypeKind::kBool), {}};
    for (Value* value : inner.values) {
      node.add_input(uninitialized(value->type()));
      body.add_input(value->type());
      body.add_output(value);
      exit.values.push_back(node.add_output(value->type()));
    }
    return exit;
  }

  // Whatever comes behind a node that may have left goes into a branch.
  Exit guard_rest(Block& block, Node* rest, const Exit& exit) {
    Value* flag = exit.flag;
    Node* branch = graph_.make(NodeKind::kIf, std::span(&flag, 1), 0);
    branch->insert_before(rest);
    Block* left = branch->add_block();
    Block* stayed = branch->add_block();
    while (branch->next() != nullptr) branch->next()->move_before(stayed->return_node());
    const std::vector<Value*> outputs(block.outputs().begin(), block.outputs().end());
    const std::vector<Value*> unset = uninitialized_like(outputs);
    block.return_node()->remove_all_inputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      left->add_output(unset[i]);
      stayed->add_output(outputs[i]);
      block.add_output(branch->add_output(outputs[i]->type()));
    }
    left->append(graph_.make(exit_kind_, exit.values, 0));
    return transform_if(*branch);
  }

  // They may be used by the block's end, or by other nodes that go.
  void delete_from(Block& block, Node* first) {
    if (first == nullptr) return;
    while (true) {
      Node* node = block.last();
      for (Value* output : node->outputs()) {
        if (output->has_uses()) output->replace_uses_with(uninitialized(output->type()));
      }
      const bool is_first = node == first;
      node->destroy();
      if (is_first) return;
    }
  }

  bool is_target(const Block& block) const {
    const Node* owner = block.owner();
    if (exit_kind_ == NodeKind::kLoopContinuation) return owner != nullptr && owner->is(NodeKind::kLoop);
    return owner == nullptr || owner->is(NodeKind::kClosure);
  }

  Exit transform_node(Node& node) {
    switch (node.kind()) {
      case NodeKind::kRaiseException:
        return {ExitStatus::kThrows, nullptr, {}};
      case NodeKind::kIf:
        return transform_if(node);
      case NodeKind::kLoop:
        return transform_loop(node);
      case NodeKind::kWith:
        return transform(*node.block(0));
      case NodeKind::kClosure:
        // Its exits are its own.
        transform(*node.block(0));
        return {};
      default:
        if (!node.is(exit_kind_)) return {};
        Exit exit{ExitStatus::kWill, nullptr, {node.inputs().begin(), node.inputs().end()}};
        node.destroy();
        return exit;
    }
  }

  Exit transform(Block& block) {
    if (++depth_ > ir::kMostBlockDepth) {
      throw Error(ErrorCode::kLimit,
                  fmt::format("more than {} exits or blocks inside of each other", ir::kMostBlockDepth));
    }
    Exit exit;
    Node* next = nullptr;
    for (Node* node = block.first(); node != nullptr; node = next) {
      next = node->next();
      exit = transform_node(*node);
      if (exit.status == ExitStatus::kWill || exit.status == ExitStatus::kThrows) {
        delete_from(block, next);
        break;
      }
      if (exit.status == ExitStatus::kMight) {
        if (next != nullptr) exit = guard_rest(block, next, exit);
        break;
      }
    }
    --depth_;
    if (!is_target(block)) return exit;
    end_target(block, exit);
    return {};
  }

  // The exit ends here: the block gives what the exit carried, or what it gave without it.
  void end_target(Block& block, const Exit& exit) {
    std::vector<Value*> given = exit.values;
    if (exit.status == ExitStatus::kMight) {
      Value* flag = exit.flag;
      Node* branch = graph_.make(NodeKind::kIf, std::span(&flag, 1), 0);
      block.append(branch);
      branch->add_block();
      branch->add_block();
      const std::vector<Value*> outputs(block.outputs().begin(), block.outputs().end());
      if (outputs.size() != given.size()) {
        throw Error(ErrorCode::kInternal, "an exit gives another number of values than its block");
      }
      add_if_outputs(*branch, given, outputs);
      given.assign(branch->outputs().begin(), branch->outputs().end());
    } else if (exit.status != ExitStatus::kWill) {
      return;
    }
    block.return_node()->remove_all_inputs();
    for (Value* value : given) block.add_output(value);
  }

  Graph& graph_;
  const Unit& unit_;
  NodeKind exit_kind_;
  Value* true_ = nullptr;
  Value* false_ = nullptr;
  std::unordered_map<std::string, Value*> unset_;  // by type
  int depth_ = 0;
};

}  // namespace

void transform_exits(Graph& graph, const Unit& unit) {
  add_with_blocks(graph);
  ExitTransformer(graph, unit, NodeKind::kLoopContinuation).run();
  ExitTransformer(graph, unit, NodeKind::kReturnStatement).run();
  merge_consecutive_ifs(graph.block());
  remove_with_blocks(graph);
}

}  // namespace flambeau::script
