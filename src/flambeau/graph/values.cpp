#include "flambeau/graph/values.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;

TensorList tensors(const std::vector<ValueRef>& refs, const FindValue& find) {
  TensorList list;
  for (const ValueRef& ref : refs) list.push_back(ref ? find(*ref).tensor() : Tensor());
  return list;
}

template <typename Number>
flambeau::Value number(const SymArgument<Number>& argument, const FindValue& find) {
  return argument.ref ? find(*argument.ref) : flambeau::Value(argument.literal);
}

// A list of what `make` gives for each item.
template <typename Items, typename Make>
flambeau::Value list_of(const Items& items, Make&& make) {
  ValueList list;
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

// Pairs of key and value.
flambeau::Value pairs_of(const ArgumentDict* dict, const FindValue& find) {
  ValueList list;
  if (dict != nullptr) {
    for (const auto& [key, item] : *dict) {
      list.emplace_back(key);
      list.push_back(to_value(item, find));
    }
  }
  return list;
}

}  // namespace

flambeau::Value to_value(const Argument& argument, const FindValue& find) {
  const auto reference = [&](const ValueRef& ref) { return ref ? find(*ref) : flambeau::Value(); };
  const auto any_number = [&](const auto& item) { return number(item, find); };
  switch (argument.kind()) {
    case K::kNone:
      return {};
    case K::kTensor:
      return reference(argument.get<K::kTensor>());
    case K::kOptionalTensor:
      return reference(argument.get<K::kOptionalTensor>());
    case K::kCustomObj:
      return reference(argument.get<K::kCustomObj>().ref);
    case K::kTensors:
      return tensors(argument.get<K::kTensors>(), find);
    case K::kOptionalTensors:
      return tensors(argument.get<K::kOptionalTensors>(), find);
    case K::kNestedTensors:
      return list_of(argument.get<K::kNestedTensors>(),
                     [&](const auto& refs) { return flambeau::Value(tensors(refs, find)); });
    case K::kSymInt:
      return any_number(argument.get<K::kSymInt>());
    case K::kSymFloat:
      return any_number(argument.get<K::kSymFloat>());
    case K::kSymBool:
      return any_number(argument.get<K::kSymBool>());
    case K::kSymInts:
      return list_of(argument.get<K::kSymInts>(), any_number);
    case K::kSymFloats:
      return list_of(argument.get<K::kSymFloats>(), any_number);
    case K::kSymBools:
      return list_of(argument.get<K::kSymBools>(), any_number);
    case K::kInt:
      return argument.get<K::kInt>();
    case K::kInts:
      return Dims(std::span<const int64_t>(argument.get<K::kInts>()));
    case K::kIntLists:
      return list_of(argument.get<K::kIntLists>(),
                     [](const auto& list) { return flambeau::Value(Dims(std::span<const int64_t>(list))); });
    case K::kFloat:
      return argument.get<K::kFloat>();
    case K::kFloats:
      return argument.get<K::kFloats>();
    case K::kFloatLists:
      return list_of(argument.get<K::kFloatLists>(), [](const auto& list) { return flambeau::Value(list); });
    case K::kComplex:
      return argument.get<K::kComplex>();
    case K::kBool:
      return argument.get<K::kBool>();
    case K::kBools: {
      const auto& flags = argument.get<K::kBools>();
      return std::vector<bool>(flags.begin(), flags.end());
    }
    case K::kString:
      return argument.get<K::kString>();
    case K::kStrings:
      return argument.get<K::kStrings>();
    case K::kOperator:
      return argument.get<K::kOperator>();
    case K::kScalarType:
      return argument.get<K::kScalarType>();
    case K::kMemoryFormat:
      return argument.get<K::kMemoryFormat>();
    case K::kLayout:
      return argument.get<K::kLayout>();
    case K::kDevice:
      return parse_device(argument.get<K::kDevice>().to_string())
          .value_or(Device{.type = DeviceType::kOther});
    case K::kStringToArgument:
      return pairs_of(argument.get<K::kStringToArgument>().get(), find);
    case K::kGraph:
      throw Error(ErrorCode::kUnsupported, "a subgraph is no value");
    case K::kUnknown:
      break;
  }
  throw Error(ErrorCode::kUnsupported, "a node takes an argument of a kind that only a newer version knows",
              "export the program again with PyTorch 2.13, or use a newer Flambeau");
}

}  // namespace flambeau::graph
