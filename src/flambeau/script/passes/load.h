// What is done to every function that is compiled, in PyTorch's order: what a loaded graph looks like, and so
// what is printed for it, depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/operators/upgraders.h"
#include "flambeau/script/passes/evaluator.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

struct LoadContext {
  Unit& unit;
  // Of the archive that the code comes from; nothing for code of today.
  std::optional<int64_t> archive_version = {};
  // Empty: the built-in one, which knows what occurs in archives.
  Evaluator evaluator = {};
  // The graph of an upgrader's function. Needed for archives alone.
  std::function<std::shared_ptr<const ir::Graph>(const Upgrader& upgrader)> upgrader_graph = {};
};

// From the graph as it was emitted, with stores, loads and exits, to one that can be run and printed. Throws
// what the passes throw.
void run_load_passes(ir::Graph& graph, const LoadContext& context);

// The first of them; needs the graph as it was emitted.
void replace_old_operators(ir::Graph& graph, const LoadContext& context);
// The last ones, which are also run by themselves on graphs that were changed.
void run_cleanup_passes(ir::Graph& graph, const LoadContext& context);

}  // namespace flambeau::script
