#include "flambeau/script/passes/load.h"

#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

void run_cleanup_passes(ir::Graph& graph, Unit& unit) {
  lift_closures(graph, [&](ir::Graph& inner) { run_cleanup_passes(inner, unit); });
  erase_list_literals(graph);
  lower_simple_tuples(graph);
  propagate_constants(graph, unit, unit.evaluator() ? unit.evaluator() : evaluate_operator);
  pool_constants(graph);
  canonicalize_outputs(graph);
  annotate_warnings(graph, unit);
}

void run_load_passes(ir::Graph& graph, Unit& unit) {
  replace_old_operators(graph, unit);
  convert_to_ssa(graph, unit);
  canonicalize_modified_loops(graph, unit);
  normalize_operators(graph, unit);
  run_cleanup_passes(graph, unit);
  graph.set_insert_point(graph.block());
}

}  // namespace flambeau::script
