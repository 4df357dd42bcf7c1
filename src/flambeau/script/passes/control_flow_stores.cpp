// Variables that branches and loops assign become outputs of those, through stores and loads at their ends.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/script/passes/names.h"
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

// The types of variables, a frame for each block that we are inside of.
using TypeFrame = std::unordered_map<std::string, Type>;

std::vector<std::string> sorted_names(const TypeFrame& frame) {
  std::vector<std::string> names;
  for (const auto& [name, type] : frame) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

class StoreAdder {
 public:
  StoreAdder(Graph& graph, const Unit& unit) : graph_(graph), unit_(unit) {}

  TypeFrame add(Block& block) {
    if (frames_.size() >= ir::kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
    }
    frames_.emplace_back();
    for (Node* node = block.first(); node != nullptr; node = node->next()) {
      switch (node->kind()) {
        case NodeKind::kIf:
          add_to_if(*node);
          break;
        case NodeKind::kLoop:
          add_to_loop(*node);
          break;
        case NodeKind::kClosure:
        case NodeKind::kComprehensionScope:
          // What they assign stays inside.
          for (Block* inner : node->blocks()) add(*inner);
          break;
        case NodeKind::kStore:
          frames_.back().insert_or_assign(node->name, node->input(0)->type());
          break;
        default:
          break;
      }
    }
    TypeFrame frame = std::move(frames_.back());
    frames_.pop_back();
    return frame;
  }

 private:
  // In a frame that was left, or one of those around it.
  const Type* find(const TypeFrame& frame, const std::string& name) const {
    if (const auto found = frame.find(name); found != frame.end()) return &found->second;
    return find(name);
  }

  const Type* find(const std::string& name) const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (const auto found = frame->find(name); found != frame->end()) return &found->second;
    }
    return nullptr;
  }

  Node* make_load(const std::string& name, const Type& type) {
    Node* load = graph_.make(NodeKind::kLoad);
    load->name = name;
    load->output()->set_type(type);
    return load;
  }

  Node* make_store(const std::string& name, Value* value) {
    Node* store = graph_.make(NodeKind::kStore, std::span(&value, 1), 0);
    store->name = name;
    return store;
  }

  void add_block_output(Block& block, const Type& type, const std::string& name) {
    Node* load = make_load(name, type);
    block.append(load);
    block.add_output(load->output());
  }

  void add_output(Node& node, const Type& type, const std::string& name) {
    Value* output = node.add_output(type);
    if (is_meaningful_name(name)) output->set_name(name);
    make_store(name, output)->insert_after(&node);
  }

  // Those that are assigned in a block, and known at the end of both.
  void add_to_if(Node& node) {
    const TypeFrame first = add(*node.block(0));
    const TypeFrame second = add(*node.block(1));
    std::set<std::string> assigned;
    for (const auto& [name, type] : first) {
      if (find(second, name) != nullptr) assigned.insert(name);
    }
    for (const auto& [name, type] : second) {
      if (find(first, name) != nullptr) assigned.insert(name);
    }
    for (const std::string& name : assigned) {
      const Type first_type = *find(first, name);
      const Type second_type = *find(second, name);
      add_block_output(*node.block(0), first_type, name);
      add_block_output(*node.block(1), second_type, name);
      add_output(node, *unify_types(&unit_, first_type, second_type, /*default_to_union=*/true), name);
    }
  }

  // Those that were known before. A loop may end before its first turn: the type is one for both.
  void add_to_loop(Node& node) {
    Block& body = *node.block(0);
    const TypeFrame frame = add(body);
    for (const std::string& name : sorted_names(frame)) {
      const Type* found = find(name);
      if (found == nullptr) continue;
      const Type before = *found;
      const Type& inside = frame.at(name);
      const std::optional<Type> unified = unify_types(&unit_, before, inside);
      if (!unified) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("the variable '{}' is {} before a loop and {} in it", printable(name),
                                printable(before.to_string()), printable(inside.to_string())));
      }
      Node* load = make_load(name, before);
      load->insert_before(&node);
      node.add_input(load->output());
      Value* carried = body.add_input(*unified, name);
      make_store(name, carried)->insert_after(body.parameter_node());
      add_block_output(body, inside, name);
      add_output(node, *unified, name);
    }
  }

  Graph& graph_;
  const Unit& unit_;
  std::deque<TypeFrame> frames_;
};

}  // namespace

bool is_meaningful_name(std::string_view name) {
  if (name.empty() || name.front() == '$') return false;
  return name.front() != '_' || name.find_first_not_of("0123456789", 1) != std::string_view::npos;
}

void add_control_flow_stores(Graph& graph, const Unit& unit) { StoreAdder(graph, unit).add(graph.block()); }

}  // namespace flambeau::script
