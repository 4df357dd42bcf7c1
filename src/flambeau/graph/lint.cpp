// What is wrong with the structure of a graph, whatever it computes.
#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/graph/graph.h"

namespace flambeau::graph {
namespace {

class Linter {
 public:
  explicit Linter(const Graph& graph) : graph_(graph) {}

  std::vector<std::string> run() {
    graph_.number_nodes();
    for (const Argument& input : graph_.inputs()) {
      input.for_each_value([&](const Value& value) { define(value, nullptr, "an input of the graph"); });
    }
    for (const Node& node : graph_.nodes()) {
      const std::string by = fmt::format("node '{}'", printable(node.label()));
      for (const NamedArgument& input : node.inputs()) check_uses(input.argument, &node, by);
      for (const Argument& output : node.outputs()) {
        output.for_each_value([&](const Value& value) { define(value, &node, by); });
      }
    }
    for (const Argument& output : graph_.outputs()) check_uses(output, nullptr, "the graph's output");
    return std::move(problems_);
  }

 private:
  void define(const Value& value, const Node* node, std::string_view by) {
    if (!defined_.insert(&value).second) {
      problems_.push_back(
          fmt::format("value '{}' is given twice; the second time by {}", printable(value.name()), by));
    } else if (value.producer() != node || value.is_input() != (node == nullptr)) {
      problems_.push_back(
          fmt::format("value '{}' does not know that {} gives it", printable(value.name()), by));
    }
  }

  void check_uses(const Argument& argument, const Node* user, std::string_view by) {
    argument.for_each_ref([&](const ValueRef& ref) {
      if (!ref) return;
      if (ref.role() != ValueRef::Role::kUse || ref.user() != user) {
        problems_.push_back(
            fmt::format("the use of '{}' by {} is not registered", printable(ref->name()), by));
      }
      if (defined_.contains(ref.get()) || ref->kind() == ValueKind::kCustomObj) return;
      problems_.push_back(ref->is_defined()
                              ? fmt::format("{} uses '{}' before it is given", by, printable(ref->name()))
                              : fmt::format("{} uses '{}', which nothing gives", by, printable(ref->name())));
    });
  }

  const Graph& graph_;
  std::unordered_set<const Value*> defined_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> Graph::lint() const { return Linter(*this).run(); }

}  // namespace flambeau::graph
