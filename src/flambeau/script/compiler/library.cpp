#include "flambeau/script/compiler/library.h"

#include "flambeau/script/compiler/text.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

std::shared_ptr<const ir::Graph> library_graph(Unit& unit, std::string_view text) {
  const std::lock_guard lock(unit.compiler_lock());
  std::shared_ptr<const ir::Graph>& graph = unit.library_graphs()[text.data()];
  if (!graph) graph = compiler::compile_library_function(unit, text)->graph();
  return graph;
}

}  // namespace flambeau::script
