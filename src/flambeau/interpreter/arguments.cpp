#include "flambeau/interpreter/arguments.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

// A tensor without dimensions stands for its number where PyTorch's bindings take it for one.
std::optional<IValue> number_of(const IValue& value, const Type& type) {
  const Tensor& tensor = value.as_tensor();
  if (!tensor.defined() || tensor.dim() != 0 || tensor.is_meta() || tensor.layout() != Layout::kStrided ||
      tensor.quantizer() != nullptr)
    return {};
  const Scalar number = ops::item(tensor);
  switch (type.kind()) {
    case TypeKind::kInt:
      return number.is_int() || number.is_bool() ? std::optional(IValue(number.to_int())) : std::nullopt;
    case TypeKind::kFloat:
      return number.is_complex() ? std::nullopt : std::optional(IValue(number.to_double()));
    case TypeKind::kComplex:
      return IValue(number.to_complex());
    default:
      return {};
  }
}

std::optional<std::vector<IValue>> fit_all(const std::vector<IValue>& items, const Type& element,
                                           const script::Unit& unit) {
  std::vector<IValue> made;
  made.reserve(items.size());
  for (const IValue& item : items) {
    std::optional<IValue> fitted = fit(item, element, unit);
    // A list of bools takes ints, a bool does not.
    if (!fitted && element.is(TypeKind::kBool) && item.is(Tag::kInt)) fitted = IValue(item.as_int() != 0);
    if (!fitted) return {};
    made.push_back(std::move(*fitted));
  }
  return made;
}

std::optional<IValue> fit_dict(const IValue& value, const Type& type, const script::Unit& unit) {
  IValue made = IValue::dict(type.elements()[0], type.elements()[1]);
  for (const script::DictItems::Entry& entry : value.as_dict().items.entries()) {
    std::optional<IValue> key = fit(entry.key, type.elements()[0], unit);
    std::optional<IValue> held = fit(entry.value, type.elements()[1], unit);
    if (!key || !held) return {};
    made.as_dict().items.set(std::move(*key), std::move(*held));
  }
  return made;
}

std::optional<IValue> fit_tuple(const IValue& value, std::span<const Type> types,
                                const std::shared_ptr<const script::Class>& named, const script::Unit& unit) {
  const std::vector<IValue>& items = value.items();
  if (items.size() != types.size()) return {};
  std::vector<IValue> made;
  for (size_t i = 0; i < items.size(); ++i) {
    std::optional<IValue> fitted = fit(items[i], types[i], unit);
    if (!fitted) return {};
    made.push_back(std::move(*fitted));
  }
  return named == nullptr ? IValue::tuple(std::move(made)) : IValue::named_tuple(std::move(made), named);
}

// What PyTorch adds, in a line of its own.
std::string cast_details(const IValue& value, const Type& type) {
  if (type.is(TypeKind::kUnion)) {
    return fmt::format("\nCast error details: Expected a member of {} but instead found type {}",
                       printable(script::annotation_text(type), 300), printable(value.kind_name()));
  }
  if (type.is(TypeKind::kTensor) && value.is(Tag::kString))
    return fmt::format("\nCast error details: Unable to cast {} to Tensor",
                       printable(value.as_string(), 100));
  return "";
}

}  // namespace

std::optional<IValue> fit(const IValue& value, const Type& type, const script::Unit& unit) {
  if (script::is_instance(&unit, value, type)) return value;
  if (value.is(Tag::kTensor) && !type.is(TypeKind::kOptional) && !type.is(TypeKind::kUnion))
    return number_of(value, type);
  switch (type.kind()) {
    case TypeKind::kOptional:
      return fit(value, type.element(), unit);
    case TypeKind::kUnion:
      for (const Type& element : type.elements()) {
        if (std::optional<IValue> fitted = fit(value, element, unit)) return fitted;
      }
      return {};
    case TypeKind::kFloat:
      if (value.is(Tag::kInt)) return IValue(static_cast<double>(value.as_int()));
      return {};
    case TypeKind::kComplex:
      if (value.is(Tag::kInt)) return IValue(std::complex<double>(static_cast<double>(value.as_int())));
      if (value.is(Tag::kFloat)) return IValue(std::complex<double>(value.as_float()));
      return {};
    case TypeKind::kInt:
    case TypeKind::kNumber:
      if (value.is(Tag::kBool)) return type.is(TypeKind::kNumber) ? value : IValue(int64_t{value.as_bool()});
      return {};
    case TypeKind::kDevice:
      if (value.is(Tag::kString)) {
        const std::optional<Device> device = parse_device(value.as_string());
        if (device && device->type != DeviceType::kOther) return IValue(*device);
      }
      return {};
    case TypeKind::kList: {
      if (!value.is(Tag::kList) && !value.is(Tag::kTuple)) return {};
      std::optional<std::vector<IValue>> items = fit_all(value.items(), type.element(), unit);
      if (!items) return {};
      return IValue::list(type.element(), std::move(*items));
    }
    case TypeKind::kDict:
      return value.is(Tag::kDict) ? fit_dict(value, type, unit) : std::nullopt;
    case TypeKind::kTuple:
      return value.is(Tag::kTuple) ? fit_tuple(value, type.elements(), nullptr, unit) : std::nullopt;
    case TypeKind::kClass: {
      const std::shared_ptr<script::Class> named = unit.find_class(type.name());
      if (!value.is(Tag::kTuple) || named == nullptr || named->kind() != script::ClassKind::kNamedTuple)
        return {};
      return fit_tuple(value, named->tuple_type().elements(), named, unit);
    }
    default:
      return {};
  }
}

std::vector<IValue> bind_arguments(const script::Unit& unit, const script::Signature& signature,
                                   std::vector<IValue> positional,
                                   const std::vector<std::pair<std::string, IValue>>& keywords) {
  const std::vector<script::Argument>& arguments = signature.arguments;
  // In PyTorch's words.
  const auto fail = [&](const std::string& what, const std::string& details = {}) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}() {}. Declaration: {}{}", printable(signature.name), what,
                            printable(to_string(signature), 1000), details));
  };
  if (positional.size() > arguments.size())
    fail(fmt::format("expected at most {} argument(s) but received {} argument(s)", arguments.size(),
                     positional.size()));
  std::vector<std::optional<IValue>> given(arguments.size());
  for (size_t i = 0; i < positional.size(); ++i) given[i] = std::move(positional[i]);
  std::string unknown;
  for (const auto& [name, value] : keywords) {
    size_t index = 0;
    while (index < arguments.size() && arguments[index].name != name) ++index;
    if (index == arguments.size()) {
      if (unknown.empty()) unknown = name;
      continue;
    }
    if (given[index]) fail(fmt::format("argument '{}' is given twice", printable(name)));
    given[index] = value;
  }
  std::vector<IValue> bound;
  bound.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const script::Argument& argument = arguments[i];
    if (!given[i]) {
      if (!argument.default_value)
        fail(fmt::format("is missing value for argument '{}'", printable(argument.name)));
      bound.push_back(*argument.default_value);
      continue;
    }
    std::optional<IValue> fitted = fit(*given[i], argument.type, unit);
    if (!fitted) {
      fail(fmt::format("expected a value of type '{}' for argument '{}' but instead found type '{}'",
                       printable(argument.type.to_string()), printable(argument.name),
                       printable(given[i]->kind_name())),
           cast_details(*given[i], argument.type));
    }
    bound.push_back(std::move(*fitted));
  }
  if (!unknown.empty()) fail(fmt::format("has no argument '{}'", printable(unknown)));
  return bound;
}

}  // namespace flambeau::interpreter
