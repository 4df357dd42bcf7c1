// Fitting arguments to a schema.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/value/schema.h"

namespace flambeau::ops {
namespace {

Value default_of(const DefaultValue& value, const Type& type);

Value plain_where_possible(const SymIntList& symbols) {
  Dims numbers;
  for (const SymInt& number : symbols) {
    if (!number.is_literal()) return symbols;
    numbers.push_back(number.literal());
  }
  return numbers;
}

Value default_list(const DefaultValue::List& list, const Type& element) {
  if (element.is(TypeKind::kTensor)) return TensorList();
  if (element.is(TypeKind::kFloat)) {
    std::vector<double> numbers;
    for (const DefaultValue& item : list) numbers.push_back(default_of(item, element).scalar().to_double());
    return numbers;
  }
  if (element.is(TypeKind::kBool)) {
    std::vector<bool> flags;
    for (const DefaultValue& item : list) flags.push_back(std::get<bool>(item.data));
    return flags;
  }
  Dims numbers;
  for (const DefaultValue& item : list) numbers.push_back(std::get<int64_t>(item.data));
  return numbers;
}

Value default_of(const DefaultValue& value, const Type& type) {
  const Type& plain = type.without_optional();
  if (value.is_none()) return {};
  if (const auto* const list = std::get_if<DefaultValue::List>(&value.data))
    return default_list(*list, plain.element());
  if (const auto* const flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* const text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* const number = std::get_if<double>(&value.data)) return *number;
  if (const auto* const number = std::get_if<std::complex<double>>(&value.data)) return *number;
  const int64_t number = std::get<int64_t>(value.data);
  switch (plain.kind()) {
    case TypeKind::kFloat:
      return static_cast<double>(number);
    case TypeKind::kScalarType:
      return dtype_from_number(number).value_or(DType::kFloat32);
    case TypeKind::kLayout:
      return static_cast<Layout>(number);
    case TypeKind::kMemoryFormat:
      return static_cast<MemoryFormat>(number);
    case TypeKind::kList: {  // "int[2] stride=1"
      const auto count = static_cast<size_t>(plain.list_size().value_or(1));
      if (plain.element().is(TypeKind::kFloat))
        return std::vector<double>(count, static_cast<double>(number));
      return Dims(count, number);
    }
    default:
      return number;
  }
}

// A tensor can stand for its only element, where that is known.
bool has_one_element(const Tensor* tensor) {
  return tensor != nullptr && tensor->layout() == Layout::kStrided && !tensor->is_meta() &&
         !tensor->is_traced() && tensor->element_count() == 1;
}

// Nothing when the value does not fit the type.
std::optional<Value> fit(const Value& value, const Type& type);

std::optional<Value> fit_list(const Value& value, const Type& type) {
  const Type& element = type.element();
  const auto* const items = value.get_if<ValueList>();
  switch (element.without_optional().kind()) {
    case TypeKind::kTensor: {
      if (const auto* const list = value.get_if<TensorList>()) {
        const bool takes_none = element.is(TypeKind::kOptional);
        for (const Tensor& tensor : *list) {
          if (!tensor.defined() && !takes_none) return {};
        }
        return value;
      }
      if (items == nullptr) {
        if (const Dims* const numbers = value.get_if<Dims>(); numbers != nullptr && numbers->empty())
          return TensorList();
        return {};
      }
      TensorList tensors;
      for (const Value& item : *items) {
        const std::optional<Value> tensor = fit(item, element);
        if (!tensor) return {};
        tensors.push_back(tensor->is_none() ? Tensor() : tensor->tensor());
      }
      return tensors;
    }
    case TypeKind::kInt:
    case TypeKind::kSymInt: {
      if (value.is<Dims>()) return value;
      if (const auto* const symbols = value.get_if<SymIntList>()) return plain_where_possible(*symbols);
      if (value.is<int64_t>())
        return Dims(static_cast<size_t>(type.list_size().value_or(1)), value.get<int64_t>());
      if (items == nullptr) return {};
      SymIntList symbols;
      for (const Value& item : *items) {
        const std::optional<Value> number = fit(item, TypeKind::kInt);
        if (!number) return {};
        symbols.push_back(number->is<SymInt>() ? number->get<SymInt>() : SymInt(number->get<int64_t>()));
      }
      return plain_where_possible(symbols);
    }
    case TypeKind::kFloat: {
      if (value.is<std::vector<double>>()) return value;
      std::vector<double> numbers;
      if (const Dims* const integers = value.get_if<Dims>()) {
        for (const int64_t number : *integers) numbers.push_back(static_cast<double>(number));
        return numbers;
      }
      if (items == nullptr) return {};
      for (const Value& item : *items) {
        if (!item.is_number()) return {};
        numbers.push_back(item.scalar().to_double());
      }
      return numbers;
    }
    case TypeKind::kBool: {
      if (value.is<std::vector<bool>>()) return value;
      if (items == nullptr) {
        const Dims* const numbers = value.get_if<Dims>();
        if (numbers == nullptr || !numbers->empty()) return {};
        return std::vector<bool>();
      }
      std::vector<bool> flags;
      for (const Value& item : *items) {
        if (!item.is<bool>()) return {};
        flags.push_back(item.get<bool>());
      }
      return flags;
    }
    case TypeKind::kNumber: {  // Scalar[]
      if (items != nullptr) return value;
      ValueList numbers;
      if (const Dims* const integers = value.get_if<Dims>()) {
        for (const int64_t number : *integers) numbers.emplace_back(number);
        return numbers;
      }
      if (const auto* const floats = value.get_if<std::vector<double>>()) {
        for (const double number : *floats) numbers.emplace_back(number);
        return numbers;
      }
      if (const auto* const flags = value.get_if<std::vector<bool>>()) {
        for (const bool flag : *flags) numbers.emplace_back(flag);
        return numbers;
      }
      return {};
    }
    default:
      return value;
  }
}

std::optional<Value> fit(const Value& value, const Type& type) {
  const Tensor* const tensor = value.get_if<Tensor>();
  const bool is_undefined = tensor != nullptr && !tensor->defined();
  switch (type.kind()) {
    case TypeKind::kOptional:
      if (value.is_none() || is_undefined) return Value();
      return fit(value, type.element());
    case TypeKind::kTensor:
      if (tensor != nullptr && !is_undefined) return value;
      if (value.is_number() || value.is<SymInt>()) return wrapped_number(value.scalar());
      return {};
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      if (value.is<int64_t>()) return value;
      if (const auto* const number = value.get_if<SymInt>())
        return number->is_literal() ? Value(number->literal()) : value;
      if (value.is<bool>()) return int64_t{value.get<bool>() ? 1 : 0};
      if (has_one_element(tensor)) {
        const Scalar number = item(*tensor);
        if (number.is_int() || number.is_bool()) return number.to_int();
      }
      return {};
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      if (value.is<double>()) return value;
      if (value.is_number() && !value.is<std::complex<double>>()) return value.scalar().to_double();
      if (has_one_element(tensor)) return item(*tensor).to_double();
      return {};
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      if (value.is<bool>()) return value;
      if (value.is<int64_t>()) return value.get<int64_t>() != 0;
      if (has_one_element(tensor)) return item(*tensor).to_bool();
      return {};
    case TypeKind::kNumber:
      if (value.is_number()) return value;
      if (const auto* const number = value.get_if<SymInt>())
        return number->is_literal() ? Value(number->literal()) : value;
      if (has_one_element(tensor)) return Value(item(*tensor));
      return {};
    case TypeKind::kString:
      if (value.is<std::string>()) return value;
      return {};
    case TypeKind::kScalarType:
      if (value.is<DType>()) return value;
      if (const auto* const number = value.get_if<int64_t>()) {
        if (const std::optional<DType> dtype = dtype_from_number(*number)) return *dtype;
      }
      if (const auto* const text = value.get_if<std::string>()) {
        if (const std::optional<DType> dtype = dtype_from_name(*text)) return *dtype;
      }
      return {};
    case TypeKind::kDevice:
      if (value.is<Device>()) return value;
      if (const auto* const text = value.get_if<std::string>()) {
        if (const std::optional<Device> device = parse_device(*text)) return *device;
      }
      return {};
    case TypeKind::kLayout:
      if (value.is<Layout>()) return value;
      if (const auto* const number = value.get_if<int64_t>()) return static_cast<Layout>(*number);
      if (const auto* const text = value.get_if<std::string>()) {
        if (const std::optional<Layout> layout = layout_from_name(*text)) return *layout;
      }
      return {};
    case TypeKind::kMemoryFormat:
      if (value.is<MemoryFormat>()) return value;
      if (const auto* const number = value.get_if<int64_t>()) return static_cast<MemoryFormat>(*number);
      if (const auto* const text = value.get_if<std::string>()) {
        if (const std::optional<MemoryFormat> format = memory_format_from_name(*text)) return *format;
      }
      return {};
    case TypeKind::kList:
      return fit_list(value, type);
    default:
      return value;
  }
}

[[noreturn]] void fail(const Schema& schema, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", schema.name.to_string(), what),
              fmt::format("its schema is {}", to_string(schema)));
}

}  // namespace

Value fit_argument(const Schema& schema, size_t index, const Value& value) {
  const SchemaArgument& argument = schema.arguments[index];
  std::optional<Value> fitted = fit(value, argument.type);
  if (!fitted) {
    fail(schema,
         fmt::format("argument '{}' takes {}, not {}", argument.name, argument.type.to_string(),
                     value.is_none() ? "None" : fmt::format("{} {}", value.kind_name(), value.summary())));
  }
  return std::move(*fitted);
}

Value default_argument(const Schema& schema, size_t index) {
  const SchemaArgument& argument = schema.arguments[index];
  if (argument.default_value) return default_of(*argument.default_value, argument.type);
  if (!argument.type.is(TypeKind::kOptional))
    fail(schema, fmt::format("argument '{}' is missing", argument.name));
  return {};
}

std::vector<Value> bind_arguments(const Schema& schema, std::span<const Value> positional,
                                  const KeywordArguments& keywords) {
  std::vector<Value> bound(schema.arguments.size());
  std::vector<bool> is_given(schema.arguments.size(), false);
  const auto give = [&](size_t i, const Value& value) {
    if (is_given[i]) fail(schema, fmt::format("argument '{}' is given twice", schema.arguments[i].name));
    is_given[i] = true;
    bound[i] = fit_argument(schema, i, value);
  };
  if (positional.size() > bound.size()) {
    fail(schema, fmt::format("{} arguments are given, it takes at most {}", positional.size(), bound.size()));
  }
  for (size_t i = 0; i < positional.size(); ++i) give(i, positional[i]);
  for (const auto& [name, value] : keywords) {
    const std::optional<size_t> index = schema.find_argument(name);
    if (!index) fail(schema, fmt::format("it has no argument '{}'", printable(name)));
    give(*index, value);
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!is_given[i]) bound[i] = default_argument(schema, i);
  }
  return bound;
}

}  // namespace flambeau::ops
