#include "flambeau/graph/dead_nodes.h"

#include "flambeau/graph/program.h"
#include "flambeau/passes/effects.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {

bool remove_dead_nodes(graph::ExportedProgram& program, const ops::Library& library) {
  return graph::remove_unused_nodes(
      program.graph(), [&](const graph::Node& node) { return effects_of(node, library).is_pure(); });
}

}  // namespace flambeau::passes
