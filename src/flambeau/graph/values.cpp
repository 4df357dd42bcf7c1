#include "flambeau/graph/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;
using Parts = ArgumentParts;

Parts constant(flambeau::Value value) { return {.constant = std::move(value)}; }

Parts reference(const ValueRef& ref) {
  return ref ? Parts{.kind = Parts::Kind::kValue, .value = ref.get()} : Parts{};
}

template <typename Number>
Parts number(const SymArgument<Number>& argument) {
  return argument.ref ? reference(argument.ref) : constant(argument.literal);
}

// Of what `make` gives for each item.
template <typename Items, typename Make>
Parts list_of(Parts::Kind kind, const Items& items, Make&& make) {
  Parts parts{.kind = kind};
  for (const auto& item : items) parts.items.push_back(make(item));
  return parts;
}

Parts tensors(const std::vector<ValueRef>& refs) { return list_of(Parts::Kind::kTensors, refs, reference); }

// Keys and values by turns.
Parts pairs_of(const ArgumentDict* dict) {
  Parts parts{.kind = Parts::Kind::kItems};
  if (dict != nullptr) {
    for (const auto& [key, item] : *dict) {
      parts.items.push_back(constant(key));
      parts.items.push_back(parts_of(item));
    }
  }
  return parts;
}

flambeau::Value value_of(const Parts& parts, const FindValue& find) {
  switch (parts.kind) {
    case Parts::Kind::kConstant:
      return parts.constant;
    case Parts::Kind::kValue:
      return find(*parts.value);
    case Parts::Kind::kGraph:
      throw Error(ErrorCode::kUnsupported, "a subgraph is no value");
    default:
      break;
  }
  ValueList items;
  for (const Parts& item : parts.items) items.push_back(value_of(item, find));
  return join_items(parts.kind, std::move(items));
}

Argument tensors_argument(const TensorList& tensors, const ValueNames& names) {
  std::vector<ValueRef> refs;
  bool has_none = false;
  for (const Tensor& tensor : tensors) {
    has_none = has_none || !tensor.defined();
    if (tensor.defined()) {
      refs.emplace_back(names.tensor_in_list(tensor));
    } else {
      refs.emplace_back();
    }
  }
  if (has_none) return Argument::make<K::kOptionalTensors>(std::move(refs));
  return Argument::make<K::kTensors>(std::move(refs));
}

Argument number_argument(const flambeau::SymInt& number, const ValueNames& names) {
  SymArgument<int64_t> made = names.number(number);
  if (!made.ref) return Argument::make<K::kInt>(made.literal);
  return Argument::make<K::kSymInt>(std::move(made));
}

Argument numbers_argument(const SymIntList& numbers, const ValueNames& names) {
  std::vector<SymArgument<int64_t>> made;
  for (const flambeau::SymInt& number : numbers) made.push_back(names.number(number));
  if (std::ranges::any_of(made, [](const auto& number) { return bool{number.ref}; }))
    return Argument::make<K::kSymInts>(std::move(made));
  std::vector<int64_t> plain;
  for (const auto& number : made) plain.push_back(number.literal);
  return Argument::make<K::kInts>(std::move(plain));
}

}  // namespace

ArgumentParts parts_of(const Argument& argument) {
  const auto any_number = [](const auto& item) { return number(item); };
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
      return tensors(argument.get<K::kTensors>());
    case K::kOptionalTensors:
      return tensors(argument.get<K::kOptionalTensors>());
    case K::kNestedTensors:
      return list_of(Parts::Kind::kItems, argument.get<K::kNestedTensors>(), tensors);
    case K::kSymInt:
      return number(argument.get<K::kSymInt>());
    case K::kSymFloat:
      return number(argument.get<K::kSymFloat>());
    case K::kSymBool:
      return number(argument.get<K::kSymBool>());
    case K::kSymInts:
      return list_of(Parts::Kind::kIntegers, argument.get<K::kSymInts>(), any_number);
    case K::kSymFloats:
      return list_of(Parts::Kind::kItems, argument.get<K::kSymFloats>(), any_number);
    case K::kSymBools:
      return list_of(Parts::Kind::kItems, argument.get<K::kSymBools>(), any_number);
    case K::kInt:
      return constant(argument.get<K::kInt>());
    case K::kInts:
      return constant(Dims(std::span<const int64_t>(argument.get<K::kInts>())));
    case K::kIntLists:
      return list_of(Parts::Kind::kItems, argument.get<K::kIntLists>(),
                     [](const auto& list) { return constant(Dims(std::span<const int64_t>(list))); });
    case K::kFloat:
      return constant(argument.get<K::kFloat>());
    case K::kFloats:
      return constant(argument.get<K::kFloats>());
    case K::kFloatLists:
      return list_of(Parts::Kind::kItems, argument.get<K::kFloatLists>(),
                     [](const auto& list) { return constant(list); });
    case K::kComplex:
      return constant(argument.get<K::kComplex>());
    case K::kBool:
      return constant(argument.get<K::kBool>());
    case K::kBools: {
      const auto& flags = argument.get<K::kBools>();
      return constant(std::vector<bool>(flags.begin(), flags.end()));
    }
    case K::kString:
      return constant(argument.get<K::kString>());
    case K::kStrings:
      return constant(argument.get<K::kStrings>());
    case K::kOperator:
      return constant(argument.get<K::kOperator>());
    case K::kScalarType:
      return constant(argument.get<K::kScalarType>());
    case K::kMemoryFormat:
      return constant(argument.get<K::kMemoryFormat>());
    case K::kLayout:
      return constant(argument.get<K::kLayout>());
    case K::kDevice:
      return constant(argument.get<K::kDevice>().device());
    case K::kStringToArgument:
      return pairs_of(argument.get<K::kStringToArgument>().get());
    case K::kGraph:
      return {.kind = Parts::Kind::kGraph, .graph = &argument.get<K::kGraph>()};
    case K::kUnknown:
      break;
  }
  throw Error(ErrorCode::kUnsupported, "a node takes an argument of a kind that only a newer version knows",
              "export the program again with PyTorch 2.13, or use a newer Flambeau");
}

flambeau::Value join_items(ArgumentParts::Kind kind, ValueList items) {
  if (kind == Parts::Kind::kTensors) {
    // A list of tensors may hold numbers, in the operands of control flow.
    const bool has_others = std::ranges::any_of(
        items, [](const flambeau::Value& item) { return !item.is_tensor() && !item.is_none(); });
    if (has_others) return items;
    TensorList list;
    list.reserve(items.size());
    for (const flambeau::Value& item : items) list.push_back(item.is_none() ? Tensor() : item.tensor());
    return list;
  }
  if (kind != Parts::Kind::kIntegers) return items;
  const bool has_symbols =
      std::ranges::any_of(items, [](const flambeau::Value& item) { return item.is<flambeau::SymInt>(); });
  if (!has_symbols) {
    Dims numbers;
    for (const flambeau::Value& item : items) numbers.push_back(item.scalar().to_int());
    return numbers;
  }
  SymIntList numbers;
  for (const flambeau::Value& item : items) {
    const auto* const symbol = item.get_if<flambeau::SymInt>();
    numbers.push_back(symbol != nullptr ? *symbol : flambeau::SymInt(item.scalar().to_int()));
  }
  return numbers;
}

flambeau::Value to_value(const Argument& argument, const FindValue& find) {
  return value_of(parts_of(argument), find);
}

Argument from_value(const flambeau::Value& value, const ValueNames& names) {
  return std::visit(
      [&]<typename T>(const T& data) -> Argument {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return data.defined() ? names.tensor(data) : Argument();
        } else if constexpr (std::is_same_v<T, TensorList>) {
          return tensors_argument(data, names);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return Argument::make<K::kInt>(data);
        } else if constexpr (std::is_same_v<T, Dims>) {
          return Argument::make<K::kInts>(std::vector<int64_t>(data.begin(), data.end()));
        } else if constexpr (std::is_same_v<T, double>) {
          return Argument::make<K::kFloat>(data);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return Argument::make<K::kFloats>(data);
        } else if constexpr (std::is_same_v<T, bool>) {
          return Argument::make<K::kBool>(data);
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          return Argument::make<K::kBools>(std::vector<uint8_t>(data.begin(), data.end()));
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return Argument::make<K::kComplex>(data);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Argument::make<K::kString>(data);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return Argument::make<K::kStrings>(data);
        } else if constexpr (std::is_same_v<T, DType>) {
          return Argument::make<K::kScalarType>(data);
        } else if constexpr (std::is_same_v<T, Device>) {
          return Argument::make<K::kDevice>(DeviceSpec::of(data));
        } else if constexpr (std::is_same_v<T, Layout>) {
          return Argument::make<K::kLayout>(data);
        } else if constexpr (std::is_same_v<T, MemoryFormat>) {
          return Argument::make<K::kMemoryFormat>(data);
        } else if constexpr (std::is_same_v<T, flambeau::SymInt>) {
          return number_argument(data, names);
        } else if constexpr (std::is_same_v<T, SymIntList>) {
          return numbers_argument(data, names);
        } else {
          throw Error(ErrorCode::kUnsupported,
                      fmt::format("a program cannot hold an argument of kind {}", value.kind_name()));
        }
      },
      value.data());
}

}  // namespace flambeau::graph
