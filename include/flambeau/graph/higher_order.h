// The table of higher-order operators, which take graphs or operators: what each takes, for whoever verifies,
// runs or traces a call of one. They have no schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace flambeau::graph {

// How the numbers of inputs and outputs of the graphs follow from the call.
enum class GraphFit : uint8_t {
  kNone,
  kOperands,     // all arguments behind the graph are its inputs; it gives what the node gives
  kLists,        // the elements of all lists behind the graph are
  kCond,         // two graphs alike
  kWhile,        // a graph that says whether to go on, and one that gives the next state
  kScan,         // state and slices in, state and results out
  kAssociative,  // two of each in, one of each out
};

struct HigherOrder {
  std::string_view name;
  // One letter for each argument: G graph, l list, p predicate, t tensor, b boolean, s text, d element type,
  // o operator, c object; small n: boolean or none, S: text or none; '.': anything may follow. Empty: not
  // checked.
  std::string_view arguments;
  GraphFit fit = GraphFit::kNone;
  // Whether it may write to its arguments beyond what its graphs do.
  bool may_write = true;
};

// Every one of PyTorch, in order of name.
std::span<const HigherOrder> all_higher_order();
// Null for a name that PyTorch does not have.
const HigherOrder* find_higher_order(std::string_view name);

// What a room does for the ones that it knows.
template <typename Function>
struct HigherOrderHook {
  std::string_view name;
  Function function;
};
// Null where the room does not know it.
template <typename Function, size_t N>
Function find_hook(const HigherOrderHook<Function> (&hooks)[N], std::string_view name) {
  for (const HigherOrderHook<Function>& hook : hooks) {
    if (hook.name == name) return hook.function;
  }
  return nullptr;
}

}  // namespace flambeau::graph
