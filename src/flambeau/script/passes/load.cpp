#include "flambeau/script/passes/load.h"

#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

void run_cleanup_passes(ir::Graph& graph, Unit& unit, const Evaluator& evaluator) {
  lift_closures(graph, [&](ir::Graph& inner) { run_cleanup_passes(inner, unit, evaluator); });
  erase_list_literals(graph);
  lower_simple_tuples(graph);
  propagate_constants(graph, unit, evaluator ? evaluator : evaluate_operator);
  pool_constants(graph);
  canonicalize_outputs(graph);
  annotate_warnings(graph, unit);
}

void run_load_passes(ir::Graph& graph, Unit& unit, const Evaluator& evaluator) {
  replace_old_operators(graph, unit);
  convert_to_ssa(graph, unit);
  canonicalize_modified_loops(graph, unit);
  normalize_operators(graph, unit);
  run_cleanup_passes(graph, unit, evaluator);
  graph.set_insert_point(graph.block());
}

}  // namespace flambeau::script
