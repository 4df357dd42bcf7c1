#include "flambeau/script/optimize/optimize.h"

#include "flambeau/script/freeze/freeze.h"
#include "flambeau/script/freeze/simplify.h"
#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

namespace {

// One change makes others possible; a few rounds find nearly all of them.
constexpr int kMostOptimizing = 6;

void optimize_graph(ir::Graph& graph, const Unit& unit) {
  const Evaluator evaluator = unit.evaluator() ? unit.evaluator() : Evaluator(evaluate_operator);
  for (int round = 0; round < kMostOptimizing; ++round) {
    bool has_changed = inline_forks(graph);
    has_changed = remove_list_mutation(graph) || has_changed;
    has_changed = remove_tensor_mutation(graph, unit) || has_changed;
    lower_simple_tuples(graph);
    has_changed = simplify_nodes(graph) || has_changed;
    has_changed = simplify_nodes(graph, unit) || has_changed;
    has_changed = propagate_constants(graph, unit, evaluator) || has_changed;
    eliminate_dead_code(graph);
    has_changed = fold_into_weights(graph, unit, evaluator) || has_changed;
    has_changed = eliminate_common_nodes(graph) || has_changed;
    eliminate_dead_code(graph);
    if (!has_changed) break;
  }
  pool_constants(graph);
  graph.set_insert_point(graph.block());
}

}  // namespace

IValue optimize_module(Unit& unit, const IValue& module, std::span<const std::string> preserved) {
  IValue frozen = freeze_module(unit, module, preserved);
  for (const std::shared_ptr<Function>& method : frozen.as_object().type->methods) {
    const std::shared_ptr<ir::Graph> graph = method->graph()->copy();
    optimize_graph(*graph, unit);
    method->set_graph(graph);
  }
  return frozen;
}

}  // namespace flambeau::script
