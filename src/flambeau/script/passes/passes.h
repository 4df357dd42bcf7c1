// What is done to a graph between its compilation and its use, each as a function over the graph. load.h says
// which are run when a function is loaded, and in which order.
#pragma once

#include <functional>
#include <memory>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/passes/evaluator.h"

namespace flambeau::script {

class Function;
class Unit;

// Replaces kStore and kLoad by values: what branches and loops assign becomes their outputs. Loops come with
// two blocks, the body and the condition, and leave with one. Breaks, continues and early returns become
// flags. Throws Error(kInvalidArgument) for a loop that gives a variable another type, Error(kLimit) for code
// that would be nested too deep.
void convert_to_ssa(ir::Graph& graph, const Unit& unit);

// The steps of convert_to_ssa, in order.
void add_control_flow_stores(ir::Graph& graph, const Unit& unit);
void replace_loop_exits(ir::Graph& graph);
void inline_loop_conditions(ir::Graph& graph);
void erase_stores(ir::Graph& graph);
void transform_exits(ir::Graph& graph, const Unit& unit);
// Parts of the last: kWith around what is between kEnter and kExit, and back; an if whose condition a
// constant of the branches before decides goes into those branches.
void add_with_blocks(ir::Graph& graph);
void remove_with_blocks(ir::Graph& graph);
void merge_consecutive_ifs(ir::Block& block);

// A loop with a count and a condition becomes one with a condition alone, that counts by itself.
void canonicalize_modified_loops(ir::Graph& graph, const Unit& unit);
// Other names of an operator become its own.
void normalize_operators(ir::Graph& graph, const Unit& unit);
// Quantized convolutions that are told their strides, as in archives of 1.3, become those that are not.
// PyTorch does so to the methods of modules alone, when all else is done.
void replace_old_convolutions(ir::Graph& graph, const Unit& unit);
// Closures that are forked or awaited become graphs of those nodes, with what they use of the outside as
// inputs. `clean` is called on each such graph.
void lift_closures(ir::Graph& graph, const std::function<void(ir::Graph&)>& clean);
// Those that still have uses are lists of tensors.
void erase_list_literals(ir::Graph& graph);
// What takes elements out of a tuple that was made before uses them directly.
void lower_simple_tuples(ir::Graph& graph);
// Operators on constants become constants, where nobody could see that they are not made anew: numbers,
// strings and the like, tuples of such. Branches that are never taken go. True when something changed.
bool propagate_constants(ir::Graph& graph, const Unit& unit, const Evaluator& evaluator);
// Constants stand at the beginning, equal ones once.
void pool_constants(ir::Graph& graph);
// Outputs of branches and loops come in the order of their first use.
void canonicalize_outputs(ir::Graph& graph);
// A number of the unit for each warning.
void annotate_warnings(ir::Graph& graph, Unit& unit);
// Takes out nodes that nothing depends on: that have no effect but their outputs, which have no uses.
// Operators that write to an argument stay.
void eliminate_dead_code(ir::Graph& graph);

// Replaces calls of functions and methods by what they do, throughout; calls through interfaces stay. Throws
// Error(kUnsupported) for a function that calls itself, Error(kLimit) for a graph that becomes too large.
void inline_calls(ir::Graph& graph, const Unit& unit, size_t most_nodes = ir::kMostNodes);
// The same with graphs of one's own for what is called.
using CalleeGraphs = std::function<std::shared_ptr<const ir::Graph>(const Function& callee)>;
void inline_calls(ir::Graph& graph, const Unit& unit, const CalleeGraphs& graph_of,
                  size_t most_nodes = ir::kMostNodes);

// Tests for None that types settle, casts to what a value is, sums with 0 and the like, as PyTorch does it
// before constants are propagated through what was inlined. True when something changed.
bool simplify_nodes(ir::Graph& graph, const Unit& unit);
// Of these, lengths, elements, parts and sums of lists and dicts that nobody changes. What has become useless
// is left to eliminate_dead_code.
bool use_known_containers(ir::Graph& graph);

}  // namespace flambeau::script
