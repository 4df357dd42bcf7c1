#include "flambeau/script/passes/load.h"

#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/passes/passes.h"

namespace flambeau::script {

void run_cleanup_passes(ir::Graph& graph, const LoadContext& context) {
  lift_closures(graph, [&](ir::Graph& inner) { run_cleanup_passes(inner, context); });
  erase_list_literals(graph);
  lower_simple_tuples(graph);
  propagate_constants(graph, context.unit, context.evaluator ? context.evaluator : evaluate_operator);
  pool_constants(graph);
  canonicalize_outputs(graph);
  annotate_warnings(graph, context.unit);
}

void run_load_passes(ir::Graph& graph, const LoadContext& context) {
  replace_old_operators(graph, context);
  convert_to_ssa(graph, context.unit);
  canonicalize_modified_loops(graph, context.unit);
  normalize_operators(graph, context.unit);
  run_cleanup_passes(graph, context);
  graph.set_insert_point(graph.block());
}

}  // namespace flambeau::script
