#include "flambeau/script/reachable.h"

#include <deque>
#include <unordered_set>

#include "flambeau/script/operators/native_classes.h"

namespace flambeau::script {
namespace {

constexpr int kMostBlocks = 500;

void visit_block(const ir::Block& block, const std::function<void(const ir::Node& node)>& visit, int depth) {
  if (depth > kMostBlocks) throw Error(ErrorCode::kLimit, "blocks are nested too deep");
  for (const ir::Node* node = block.first(); node != nullptr; node = node->next()) {
    visit(*node);
    for (const ir::Block* inner : node->blocks()) visit_block(*inner, visit, depth + 1);
    if (node->subgraph != nullptr) visit_block(node->subgraph->block(), visit, depth + 1);
  }
}

class Reach {
 public:
  Reach(const Unit& unit, const VisitFunction& visit) : unit_(unit), visit_(visit) {}

  void add(const std::shared_ptr<Function>& function) {
    if (function != nullptr && seen_.insert(function.get()).second) left_.push_back(function);
  }
  void add(const Class& type) {
    if (!classes_.insert(type.qualified_name()).second) return;
    // Methods of those have no code here.
    if (type.is_interface() || is_native_class(type.qualified_name())) return;
    for (const auto* functions : {&type.methods, &type.forward_pre_hooks, &type.forward_hooks}) {
      for (const std::shared_ptr<Function>& function : *functions) add(function);
    }
  }
  void run() {
    while (!left_.empty()) {
      const std::shared_ptr<Function> function = left_.front();
      left_.pop_front();
      try {
        const std::shared_ptr<ir::Graph> graph = function->graph();
        visit_nodes(*graph, [&](const ir::Node& node) { follow(node); });
        visit_(*function, graph.get(), nullptr);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kCancelled) throw;
        visit_(*function, nullptr, &error);
      }
    }
  }

 private:
  void follow(const ir::Node& node) {
    if (node.is(ir::NodeKind::kCallFunction)) add(unit_.find_function(node.input(0)->node()->name));
    if (node.is(ir::NodeKind::kCallMethod) || node.is(ir::NodeKind::kCreateObject)) {
      const Type& type = node.is(ir::NodeKind::kCreateObject) ? node.output()->type() : node.input(0)->type();
      if (!type.is(TypeKind::kClass)) return;
      if (const std::shared_ptr<Class> found = unit_.find_class(type.name())) add(*found);
    }
  }

  const Unit& unit_;
  const VisitFunction& visit_;
  std::deque<std::shared_ptr<Function>> left_;
  std::unordered_set<const Function*> seen_;
  std::unordered_set<std::string> classes_;
};

}  // namespace

void visit_nodes(const ir::Graph& graph, const std::function<void(const ir::Node& node)>& visit) {
  visit_block(graph.block(), visit, 0);
}

void visit_reachable(const Unit& unit, std::span<const std::shared_ptr<const Class>> classes,
                     const VisitFunction& visit) {
  Reach reach(unit, visit);
  for (const std::shared_ptr<const Class>& type : classes) reach.add(*type);
  reach.run();
}

}  // namespace flambeau::script
