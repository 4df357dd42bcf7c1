// Which operator or function a call means: overload resolution by types, with the conversions that a match
// needs put into the graph. Nothing is put there for a candidate that does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/source.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau::script {

// Where calls are put, and by whose rules.
struct CallContext {
  Unit& unit;
  ir::Graph& graph;  // at its insert point
  // Of the archive that the code comes from: operators then have the schemas of their time. Nothing for code
  // of today.
  std::optional<int64_t> archive_version;
  // False while TorchScript's own functions are compiled: those call operators alone.
  bool use_scripted_operators = true;
};

// What is given to a call: a value of the graph, or a constant that becomes one if the call is made.
struct GivenArgument {
  GivenArgument(ir::Value* given) : value(given) {}            // NOLINT
  GivenArgument(IValue given) : constant(std::move(given)) {}  // NOLINT
  GivenArgument(std::string called, ir::Value* given) : name(std::move(called)), value(given) {}
  GivenArgument(std::string called, IValue given) : name(std::move(called)), constant(std::move(given)) {}

  std::string name;            // of a keyword argument
  ir::Value* value = nullptr;  // null for a constant
  IValue constant;
};

struct Call {
  std::vector<GivenArgument> positional = {};
  std::vector<GivenArgument> keyword = {};
  std::optional<GivenArgument> self = {};  // goes to the argument "self", wherever that one stands
  SourceRange range = {};                  // of the whole call: for errors, and of the nodes that are made
};

struct MatchedCall {
  std::vector<ir::Value*> inputs;  // one for each argument of the signature, and what "..." takes
  std::vector<Type> returns;       // without type variables
};

// Makes the call of an operator, "aten::add" or "ops.ns"'s "ns::op", by the overload that PyTorch would take:
// the node, or the nodes of a function that TorchScript itself has written in TorchScript. Gives its result;
// several are packed into a tuple with the schema's field names, none are an empty tuple. Throws Error
// located at the call: kNotFound for an unknown operator, with those of a similar name; kInvalidArgument when
// no overload fits, with every candidate and its reason.
ir::Value* emit_operator(CallContext& context, std::string_view name, const Call& call);
// As emit_operator, but gives the node of that operator, not packed.
ir::Node* emit_operator_node(CallContext& context, std::string_view name, const Call& call);
// Whether there is such an operator, in this version or an older one, or a function in its place.
bool has_operator(const Unit& unit, std::string_view name);

// The arguments of a call of one function, with all conversions. For a method the object is the first
// positional argument (or `self`). Throws Error(kInvalidArgument) located at the call.
MatchedCall match_signature(CallContext& context, const Signature& signature, const Call& call);
// Of several: the first that fits without conversions, else the first that fits with them, and its index.
std::pair<size_t, MatchedCall> match_signatures(CallContext& context,
                                                std::span<const Signature* const> signatures,
                                                const Call& call);

// The value as a value of `wanted`, through nodes where a conversion is needed: tuples to lists, elements of
// tuples, empty list literals; with `allow_conversions` also tensors and booleans to numbers, numbers to
// int, float and complex, strings to devices. The value itself when there is none: whether its type is now a
// subtype is for the caller to ask.
ir::Value* convert_implicitly(CallContext& context, const Type& wanted, ir::Value* value,
                              bool allow_conversions, const SourceRange& range);
// A list of that type, or a tuple of elements that it may hold.
bool is_convertible_to_list(const Unit& unit, const Type& type, const Type& list);

// A constant node at the insert point, of the type that its value has.
ir::Value* insert_constant(ir::Graph& graph, const IValue& value, const SourceRange& range = {});
ir::Value* insert_constant(ir::Graph& graph, const IValue& value, const Type& type,
                           const SourceRange& range = {});
// What functions give: one value itself, several (or none) as a tuple.
ir::Value* pack_values(ir::Graph& graph, std::span<ir::Value* const> values,
                       std::vector<std::string> field_names = {});

}  // namespace flambeau::script
