#include "flambeau/graph/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;
using Parts = ArgumentParts;

// What an argument is follows from the type of its data.
template <typename T>
Parts parts(const T& data) {
  if constexpr (std::is_same_v<T, std::monostate>) {
    return {};
  } else if constexpr (std::is_same_v<T, ValueRef>) {
    return data ? Parts{.kind = Parts::Kind::kValue, .value = data.get()} : Parts{};
  } else if constexpr (std::is_same_v<T, CustomObjArgument>) {
    return parts(data.ref);
  } else if constexpr (requires { data.literal; }) {
    return data.ref ? parts(data.ref) : parts(data.literal);
  } else if constexpr (std::is_same_v<T, GraphArgument>) {
    return {.kind = Parts::Kind::kGraph, .graph = &data};
  } else if constexpr (std::is_same_v<T, DeviceSpec>) {
    return {.constant = data.device()};
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    return {.constant = Dims(std::span<const int64_t>(data))};
  } else if constexpr (std::is_same_v<T, std::vector<uint8_t>>) {
    return {.constant = std::vector<bool>(data.begin(), data.end())};
  } else if constexpr (std::is_same_v<T, std::unique_ptr<ArgumentDict>>) {
    Parts made{.kind = Parts::Kind::kItems};  // keys and values by turns
    if (data == nullptr) return made;
    for (const auto& [key, item] : *data) {
      made.items.push_back({.constant = key});
      made.items.push_back(parts_of(item));
    }
    return made;
  } else if constexpr (std::is_constructible_v<flambeau::Value, const T&>) {
    return {.constant = data};
  } else {
    static_assert(kIsList<T>);
    Parts made{.kind = std::is_same_v<T, std::vector<ValueRef>>               ? Parts::Kind::kTensors
                       : std::is_same_v<T, std::vector<SymArgument<int64_t>>> ? Parts::Kind::kIntegers
                                                                              : Parts::Kind::kItems};
    for (const auto& item : data) made.items.push_back(parts(item));
    return made;
  }
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
  return std::visit(
      []<K kKind, typename T>(const ArgumentData<kKind, T>& holder) -> Parts {
        if constexpr (kKind == K::kUnknown) {
          throw Error(ErrorCode::kUnsupported,
                      "a node takes an argument of a kind that only a newer version knows",
                      "export the program again with PyTorch 2.13, or use a newer Flambeau");
        } else {
          return parts(holder.data);
        }
      },
      argument.data());
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

namespace {

// Of a list of numbers; PyTorch's programs hold none of several kinds.
Argument list_argument(const ValueList& items) {
  const auto all_are = [&]<typename T>(T) {
    return std::ranges::all_of(items, [](const flambeau::Value& item) { return item.is<T>(); });
  };
  if (all_are(double{})) {
    std::vector<double> numbers;
    for (const flambeau::Value& item : items) numbers.push_back(item.get<double>());
    return Argument::make<K::kFloats>(std::move(numbers));
  }
  if (all_are(int64_t{})) {
    std::vector<int64_t> numbers;
    for (const flambeau::Value& item : items) numbers.push_back(item.get<int64_t>());
    return Argument::make<K::kInts>(std::move(numbers));
  }
  throw Error(ErrorCode::kUnsupported, "a program cannot hold a list of values of several kinds");
}

}  // namespace

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
        } else if constexpr (std::is_same_v<T, ValueList>) {
          return list_argument(data);
        } else {
          throw Error(ErrorCode::kUnsupported,
                      fmt::format("a program cannot hold an argument of kind {}", value.kind_name()));
        }
      },
      value.data());
}

}  // namespace flambeau::graph
