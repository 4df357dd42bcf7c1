// A module for inference alone: frozen, and with fewer, larger operators. Each step is a pass over a graph.
#pragma once

#include <span>
#include <string>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/passes/evaluator.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class Unit;

// Freezes it, as freeze_module() does and throws, and runs all of the passes below on its methods.
IValue optimize_module(Unit& unit, const IValue& module, std::span<const std::string> preserved = {});

// Each says whether something changed. What has become useless is left to eliminate_dead_code.

// Batch norms, and sums, differences, products and quotients with constants, become parts of the weights of
// the convolution or linear layer that they follow, where nobody else sees what that gives. `evaluator`
// computes the new weights.
bool fold_into_weights(ir::Graph& graph, const Unit& unit, const Evaluator& evaluator);
// What is computed twice is computed once.
bool eliminate_common_nodes(ir::Graph& graph);
// What an operator writes into a tensor that nobody else knows becomes a tensor of its own.
bool remove_tensor_mutation(ir::Graph& graph, const Unit& unit);
// Lists that are made and then appended to are made with all their elements.
bool remove_list_mutation(ir::Graph& graph);
// What is forked and only waited for is done where it was forked.
bool inline_forks(ir::Graph& graph);

}  // namespace flambeau::script
