// Arguments of nodes and the values that operators take: the one place that knows every kind of argument for
// those who run, trace or fold programs.
#pragma once

#include <functional>
#include <vector>

#include "flambeau/graph/argument.h"
#include "flambeau/value/value.h"

namespace flambeau::graph {

// An argument taken apart: what it says itself, and which values of the graph it refers to.
struct ArgumentParts {
  enum class Kind : uint8_t {
    kConstant,
    kValue,
    kTensors,   // items are values or, for an absent tensor, constants
    kIntegers,  // items are values or numbers
    kItems,     // anything
    kGraph,
  };
  Kind kind = Kind::kConstant;
  flambeau::Value constant = {};         // kConstant
  const Value* value = nullptr;          // kValue
  const GraphArgument* graph = nullptr;  // kGraph
  std::vector<ArgumentParts> items = {};
};
// An absent tensor is None. Throws Error(kUnsupported) for a kind that only a newer schema knows.
ArgumentParts parts_of(const Argument& argument);

// The value of a list, of what its items are: tensors, integers where all are numbers, else a list of
// values.
flambeau::Value join_items(ArgumentParts::Kind kind, ValueList items);

// What a value of the graph is at the moment.
using FindValue = std::function<flambeau::Value(const Value& value)>;

// What the argument says itself, and what it refers to as `find` gives it. An absent tensor is None, in a
// list an undefined one. Throws Error(kUnsupported) for a subgraph, and as parts_of does.
flambeau::Value to_value(const Argument& argument, const FindValue& find);

// How tensors and symbols are values of a graph.
struct ValueNames {
  std::function<Argument(const Tensor& tensor)> tensor;
  std::function<Value&(const Tensor& tensor)> tensor_in_list;
  std::function<SymArgument<int64_t>(const flambeau::SymInt& number)> number;
};

// The way back. Throws Error(kUnsupported) for what no argument can hold.
Argument from_value(const flambeau::Value& value, const ValueNames& names);

}  // namespace flambeau::graph
