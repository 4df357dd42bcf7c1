// A graph made ready to run: instructions over numbered slots, with operators found and constant arguments
// fitted.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/graph/graph.h"
#include "flambeau/graph/values.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/symbol/python_functions.h"

namespace flambeau::runtime {

using Slot = uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

// Where an argument comes from.
struct Source {
  using Kind = graph::ArgumentParts::Kind;
  Kind kind = Kind::kConstant;
  Value constant;             // kConstant
  Slot slot = kNoSlot;        // kValue
  std::vector<Source> items;  // of lists
  size_t code = 0;            // kGraph: the index of a subgraph's code
};

// Calls visit(slot) for each slot a source takes.
template <typename Visit>
void for_each_slot(const Source& source, Visit&& visit) {
  if (source.kind == Source::Kind::kValue) visit(source.slot);
  for (const Source& item : source.items) for_each_slot(item, visit);
}

// Where a result goes: one slot, or the slots of a list's elements.
struct Target {
  bool is_list = false;
  std::vector<Slot> slots;
};

struct Code;
struct HigherOrderCall;
class Interpreter;
using HigherOrderFunction = std::vector<Value> (*)(Interpreter& interpreter, const HigherOrderCall& call);

struct Instruction {
  enum class Kind : uint8_t { kOperator, kPythonFunction, kHigherOrder, kMissing };
  Kind kind = Kind::kOperator;
  const ops::Operator* op = nullptr;
  const ops::PythonFunction* function = nullptr;
  HigherOrderFunction higher_order = nullptr;  // null for one that nobody here knows
  std::vector<Source> arguments;               // of an operator: as the schema has them
  std::vector<std::string> names;  // of a higher-order operator's arguments, where the file names them
  std::vector<Target> results;
  std::vector<Slot> last_uses;        // slots that nothing reads after this
  const graph::Node* node = nullptr;  // for names and messages
};

struct Code {
  size_t slot_count = 0;
  std::vector<Slot> inputs;  // in the graph's order; kNoSlot for constant ones
  std::vector<Source> outputs;
  std::vector<Instruction> instructions;
  std::vector<std::unique_ptr<Code>> subgraphs;
  std::vector<std::string> slot_names;
  bool is_single_tensor_return = false;
};

// An operator the library does not have, and where it is first used.
struct MissingOperator {
  std::string target;
  std::string node;
  size_t count = 0;
  std::string_view option;  // of the build, that would bring it; empty for none
};

// The graph must outlive the code. Operators that nobody knows are collected in `missing`; an instruction
// that needs one throws when it is reached.
std::unique_ptr<Code> lower(const graph::Graph& graph, const ops::Library& library,
                            std::vector<MissingOperator>& missing);

// Some nodes of a graph, in its order, with what they take from outside.
struct GraphPart {
  std::span<const graph::Value* const> inputs;
  std::span<const graph::Node* const> nodes;
  std::span<const graph::Argument> outputs;
};
std::unique_ptr<Code> lower(const GraphPart& part, const ops::Library& library,
                            std::vector<MissingOperator>& missing);

}  // namespace flambeau::runtime
