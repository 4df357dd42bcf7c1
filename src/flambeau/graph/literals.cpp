#include "flambeau/graph/literals.h"

#include <vector>

namespace flambeau::graph {

bool replace_by_literals(Graph& graph, const std::unordered_map<const Value*, int64_t>& literals) {
  if (literals.empty()) return false;
  bool has_changed = false;
  const auto refers = [&](const Argument& input) {
    bool found = false;
    input.for_each_value([&](const Value& value) { found = found || literals.contains(&value); });
    return found;
  };
  for (Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Argument& input = node.inputs()[i].argument;
      const bool is_list = input.is(ArgumentKind::kSymInts);
      if ((!is_list && !input.is(ArgumentKind::kSymInt)) || !refers(input)) continue;
      has_changed = true;
      if (!is_list) {
        node.set_input(i, Argument::make<ArgumentKind::kInt>(literals.at(input.value())));
        continue;
      }
      std::vector<SymArgument<int64_t>> numbers;
      std::vector<int64_t> known;
      for (const SymArgument<int64_t>& item : input.get<ArgumentKind::kSymInts>()) {
        const auto found = item.ref ? literals.find(item.ref.get()) : literals.end();
        if (item.ref && found == literals.end()) {
          numbers.emplace_back(*item.ref);
        } else {
          known.push_back(item.ref ? found->second : item.literal);
          numbers.emplace_back(known.back());
        }
      }
      node.set_input(i, known.size() == numbers.size()
                            ? Argument::make<ArgumentKind::kInts>(std::move(known))
                            : Argument::make<ArgumentKind::kSymInts>(std::move(numbers)));
    }
  }
  return has_changed;
}

}  // namespace flambeau::graph
