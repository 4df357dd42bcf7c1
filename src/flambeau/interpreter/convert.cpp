#include "flambeau/interpreter/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

TensorList tensors_of(const std::vector<IValue>& items) {
  TensorList tensors;
  tensors.reserve(items.size());
  for (const IValue& item : items) tensors.push_back(item.is_none() ? Tensor() : item.as_tensor());
  return tensors;
}

bool has_symbols(const std::vector<IValue>& items) {
  return std::ranges::any_of(items, [](const IValue& item) { return item.is(Tag::kSymbolic); });
}

SymIntList symbols_of(const std::vector<IValue>& items) {
  SymIntList numbers;
  for (const IValue& item : items) {
    if (item.is(Tag::kSymbolic)) {
      numbers.push_back(item.as_symbolic().get<SymInt>());
    } else {
      numbers.push_back(item.is(Tag::kBool) ? int64_t{item.as_bool()} : item.as_int());
    }
  }
  return numbers;
}

Value list_value(const std::vector<IValue>& items, const Type& element) {
  switch (element.without_optional().kind()) {
    case TypeKind::kTensor:
      return tensors_of(items);
    case TypeKind::kInt:
    case TypeKind::kSymInt: {
      if (has_symbols(items)) return symbols_of(items);
      Dims numbers;
      for (const IValue& item : items)
        numbers.push_back(item.is(Tag::kBool) ? item.as_bool() : item.as_int());
      return numbers;
    }
    case TypeKind::kFloat: {
      std::vector<double> numbers;
      for (const IValue& item : items)
        numbers.push_back(item.is(Tag::kInt) ? static_cast<double>(item.as_int()) : item.as_float());
      return numbers;
    }
    case TypeKind::kBool: {
      std::vector<bool> flags;
      for (const IValue& item : items) flags.push_back(item.as_bool());
      return flags;
    }
    case TypeKind::kString: {
      std::vector<std::string> texts;
      for (const IValue& item : items) texts.push_back(item.as_string());
      return texts;
    }
    default: {
      ValueList values;
      for (const IValue& item : items) values.push_back(to_value(item));
      return values;
    }
  }
}

IValue number_of(const SymInt& number) {
  return number.is_literal() ? IValue(number.literal()) : IValue::symbolic(number);
}

IValue list_of(const Type& element, auto&& items) {
  std::vector<IValue> made;
  made.reserve(items.size());
  for (auto&& item : items) made.emplace_back(item);
  return IValue::list(element, std::move(made));
}

}  // namespace

Value to_value(const IValue& value) {
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kUninitialized:
      return {};
    case Tag::kBool:
      return value.as_bool();
    case Tag::kInt:
      return value.as_int();
    case Tag::kFloat:
      return value.as_float();
    case Tag::kDevice:
      return value.as_device();
    case Tag::kTensor:
      return value.as_tensor();
    case Tag::kString:
      return value.as_string();
    case Tag::kComplex:
      return value.as_complex();
    case Tag::kTuple: {
      ValueList items;
      for (const IValue& item : value.items()) items.push_back(to_value(item));
      return items;
    }
    case Tag::kList:
      return list_value(value.items(), value.as_list().element);
    case Tag::kNative:
      return value.as_native().object;
    case Tag::kSymbolic:
      return value.as_symbolic();
    case Tag::kDict:
    case Tag::kObject:
    case Tag::kEnum:
    case Tag::kFuture:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("an operator of tensors takes no {}", printable(value.kind_name())));
}

Value to_value(const IValue& value, const Type& type) {
  if (value.is_none()) return {};
  const Type& plain = type.without_optional();
  switch (plain.kind()) {
    case TypeKind::kTensor:
      if (value.is(Tag::kTensor)) return value.as_tensor();
      break;
    case TypeKind::kFloat:
      if (value.is(Tag::kFloat)) return value.as_float();
      if (value.is(Tag::kInt)) return static_cast<double>(value.as_int());
      break;
    case TypeKind::kScalarType:
      if (value.is(Tag::kInt)) {
        if (const std::optional<DType> dtype = dtype_from_number(value.as_int())) return *dtype;
      }
      break;
    case TypeKind::kLayout:
      if (value.is(Tag::kInt)) return static_cast<Layout>(value.as_int());
      break;
    case TypeKind::kMemoryFormat:
      if (value.is(Tag::kInt)) return static_cast<MemoryFormat>(value.as_int());
      break;
    case TypeKind::kList:
      if (value.is(Tag::kList) || value.is(Tag::kTuple)) return list_value(value.items(), plain.element());
      break;
    default:
      break;
  }
  return to_value(value);
}

IValue to_ivalue(Value value, const Type& type) {
  const Type& plain = type.without_optional();
  if (auto* const tensor = value.get_if<Tensor>()) {
    if (!tensor->defined()) return {};
    tensor->set_wrapped_number(false);
    return IValue(std::move(*tensor));
  }
  if (plain.is(TypeKind::kTuple)) {
    if (auto* const items = value.get_if<ValueList>()) {
      std::vector<IValue> made;
      for (size_t i = 0; i < items->size() && i < plain.elements().size(); ++i)
        made.push_back(to_ivalue(std::move((*items)[i]), plain.elements()[i]));
      return IValue::tuple(std::move(made));
    }
  }
  if (plain.is(TypeKind::kList)) {
    if (auto* const tensors = value.get_if<TensorList>()) {
      std::vector<IValue> made;
      made.reserve(tensors->size());
      for (Tensor& tensor : *tensors) made.push_back(tensor.defined() ? IValue(std::move(tensor)) : IValue());
      return IValue::list(plain.element(), std::move(made));
    }
    if (auto* const items = value.get_if<ValueList>()) {
      std::vector<IValue> made;
      for (Value& item : *items) made.push_back(to_ivalue(std::move(item), plain.element()));
      return IValue::list(plain.element(), std::move(made));
    }
  }
  if (plain.is(TypeKind::kFloat) && value.is<int64_t>()) return static_cast<double>(value.get<int64_t>());
  return to_ivalue(std::move(value));
}

IValue to_ivalue(Value value) {
  struct Maker {
    IValue operator()(std::monostate) const { return {}; }
    IValue operator()(Tensor& tensor) const {
      return tensor.defined() ? IValue(std::move(tensor)) : IValue();
    }
    IValue operator()(TensorList& list) const { return list_of(TypeKind::kTensor, list); }
    IValue operator()(int64_t number) const { return number; }
    IValue operator()(const Dims& list) const { return list_of(TypeKind::kInt, list); }
    IValue operator()(double number) const { return number; }
    IValue operator()(const std::vector<double>& list) const { return list_of(TypeKind::kFloat, list); }
    IValue operator()(bool flag) const { return flag; }
    IValue operator()(const std::vector<bool>& list) const {
      std::vector<IValue> made;
      for (const bool flag : list) made.emplace_back(flag);
      return IValue::list(TypeKind::kBool, std::move(made));
    }
    IValue operator()(std::complex<double> number) const { return number; }
    IValue operator()(std::string& text) const { return std::move(text); }
    IValue operator()(std::vector<std::string>& list) const { return list_of(TypeKind::kString, list); }
    IValue operator()(DType dtype) const { return static_cast<int64_t>(dtype); }
    IValue operator()(Device device) const { return device; }
    IValue operator()(Layout layout) const { return static_cast<int64_t>(layout); }
    IValue operator()(MemoryFormat format) const { return static_cast<int64_t>(format); }
    IValue operator()(const SymInt& number) const { return number_of(number); }
    IValue operator()(const SymIntList& list) const {
      std::vector<IValue> made;
      for (const SymInt& number : list) made.push_back(number_of(number));
      return IValue::list(TypeKind::kInt, std::move(made));
    }
    IValue operator()(Object& object) const { return IValue::native(std::move(object)); }
    IValue operator()(ValueList& list) const {
      std::vector<IValue> made;
      for (Value& item : list) made.push_back(to_ivalue(std::move(item)));
      return IValue::tuple(std::move(made));
    }
  };
  return std::visit(Maker(), value.data());
}

}  // namespace flambeau::interpreter
