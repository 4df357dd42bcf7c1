#include "flambeau/script/changes.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

constexpr int kMostChangeDepth = 500;  // blocks inside of each other
constexpr std::string_view kTraining = "training";

class ChangeFinder {
 public:
  explicit ChangeFinder(const Unit& unit) : unit_(unit) {}

  Changes find(const std::shared_ptr<Function>& function) {
    call(function, false);
    while (!left_.empty()) {
      const Step step = std::move(left_.back());
      left_.pop_back();
      try {
        graph_of(step);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kCancelled) throw;
        change(step.is_training);
      }
    }
    return found_;
  }

 private:
  struct Step {
    std::shared_ptr<Function> function;
    bool is_training = false;  // it runs while training alone
  };

  void change(bool is_training) {
    found_.is_changing = true;
    if (!is_training) found_.is_changing_in_eval = true;
  }

  void call(const std::shared_ptr<Function>& function, bool is_training) {
    // A function that was only met behind `if self.training` is looked at again when it is met elsewhere.
    const auto [place, is_new] = seen_.try_emplace(function.get(), is_training);
    if (!is_new && (is_training || !place->second)) return;
    place->second = is_training;
    left_.push_back({function, is_training});
  }

  void graph_of(const Step& step) {
    const std::shared_ptr<ir::Graph> graph = step.function->graph();
    shared_.clear();
    training_.clear();
    block(graph->block(), step.is_training, 0);
  }

  void block(const ir::Block& inside, bool is_training, int depth) {
    if (depth > kMostChangeDepth) throw Error(ErrorCode::kLimit, "blocks are nested too deep");
    for (const ir::Node* node = inside.first(); node != nullptr; node = node->next()) {
      look(*node, is_training);
      const bool is_branch = node->is(ir::NodeKind::kIf) && training_.contains(node->input(0));
      for (size_t i = 0; i < node->blocks().size(); ++i)
        block(*node->block(i), is_training || (is_branch && i == 0), depth + 1);
      if (node->subgraph != nullptr) block(node->subgraph->block(), is_training, depth + 1);
      if (is_branch) imply(*node);
    }
  }

  // `a and b` is an `if` that gives False where a does not hold.
  void imply(const ir::Node& node) {
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const ir::Node& otherwise = *node.block(1)->output(i)->node();
      if (otherwise.is(ir::NodeKind::kConstant) && otherwise.constant.is(IValue::Tag::kBool) &&
          !otherwise.constant.as_bool())
        training_.insert(node.output(i));
    }
  }

  void look(const ir::Node& node, bool is_training) {
    switch (node.kind()) {
      case ir::NodeKind::kGetAttr:
        shared_.insert(node.output());
        if (node.name == kTraining) training_.insert(node.output());
        return;
      case ir::NodeKind::kUncheckedCast:
        if (shared_.contains(node.input(0))) shared_.insert(node.output());
        return;
      case ir::NodeKind::kSetAttr:
        if (node.name == kTraining) found_.sets_training = true;
        return change(is_training);
      case ir::NodeKind::kCallFunction:
        if (const auto called = unit_.find_function(node.input(0)->node()->name))
          return call(called, is_training);
        return change(is_training);
      case ir::NodeKind::kCallMethod:
        return method(node, node.name, is_training);
      case ir::NodeKind::kEnter:
        return method(node, "__enter__", is_training);
      case ir::NodeKind::kExit:
        return method(node, "__exit__", is_training);
      default:
        if (node.op != nullptr) operation(node, is_training);
    }
  }

  void method(const ir::Node& node, std::string_view name, bool is_training) {
    const Type& type = node.input(0)->type();
    const std::shared_ptr<Class> found = type.is(TypeKind::kClass) ? unit_.find_class(type.name()) : nullptr;
    const bool has_code =
        found != nullptr && !found->is_interface() && !is_native_class(found->qualified_name());
    const std::shared_ptr<Function>* const called = has_code ? found->find_method(name) : nullptr;
    if (called == nullptr) return change(is_training);
    call(*called, is_training);
  }

  void operation(const ir::Node& node, bool is_training) {
    const Schema& schema = node.op->schema;
    bool takes_shared = false;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (!shared_.contains(node.input(i))) continue;
      takes_shared = true;
      if (i < schema.arguments.size() && schema.arguments[i].is_written()) change(is_training);
    }
    if (!takes_shared) return;
    for (size_t i = 0; i < node.outputs().size() && i < schema.returns.size(); ++i) {
      if (schema.returns[i].alias) shared_.insert(node.output(i));
    }
  }

  const Unit& unit_;
  Changes found_;
  std::vector<Step> left_;
  std::unordered_map<const Function*, bool> seen_;
  std::unordered_set<const ir::Value*> shared_;    // of the graph: what an object holds
  std::unordered_set<const ir::Value*> training_;  // true only if some module is training
};

}  // namespace

Changes changes_of(const Unit& unit, const std::shared_ptr<Function>& function) {
  return ChangeFinder(unit).find(function);
}

}  // namespace flambeau::script
