// Schemas as signatures of TorchScript's own types.
#include <complex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/script/operators/operator_table.h"
#include "flambeau/tensor/device.h"

namespace flambeau::script {
namespace {

// TorchScript has ints where schemas have data types, layouts, memory formats and sizes that may be symbols.
Type script_type(const Type& type) {
  std::vector<Type> elements;
  for (const Type& element : type.elements()) elements.push_back(script_type(element));
  switch (type.kind()) {
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kSymInt:
      return TypeKind::kInt;
    case TypeKind::kOptional:
      return Type::optional(std::move(elements[0]));
    case TypeKind::kList:
      return Type::list(std::move(elements[0]));
    case TypeKind::kDict:
      return Type::dict(std::move(elements[0]), std::move(elements[1]));
    case TypeKind::kTuple:
      return Type::tuple(std::move(elements));
    case TypeKind::kUnion:
      return Type::union_of(std::move(elements));
    case TypeKind::kFuture:
      return Type::future(std::move(elements[0]));
    case TypeKind::kAwait:
      return Type::await(std::move(elements[0]));
    case TypeKind::kRRef:
      return Type::rref(std::move(elements[0]));
    default:
      return type;
  }
}

IValue script_default(const DefaultValue& value, const Type& type) {
  const Type& plain = type.without_optional();
  if (const auto* const list = std::get_if<DefaultValue::List>(&value.data)) {
    const Type element = plain.is(TypeKind::kList) ? plain.element() : Type(TypeKind::kAny);
    std::vector<IValue> items;
    for (const DefaultValue& item : *list) items.push_back(script_default(item, element));
    return IValue::list(element, std::move(items));
  }
  if (const auto* const number = std::get_if<int64_t>(&value.data)) {
    if (plain.is(TypeKind::kFloat)) return static_cast<double>(*number);
    if (plain.is(TypeKind::kComplex)) return std::complex<double>(static_cast<double>(*number));
    return *number;
  }
  if (const auto* const text = std::get_if<std::string>(&value.data)) {
    if (plain.is(TypeKind::kDevice))
      if (const std::optional<Device> device = parse_device(*text)) return *device;
    return *text;
  }
  if (const auto* const flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* const real = std::get_if<double>(&value.data)) return *real;
  if (const auto* const number = std::get_if<std::complex<double>>(&value.data)) return *number;
  return {};
}

}  // namespace

Signature signature_of(const Schema& schema) {
  Signature signature;
  signature.name = schema.name.name;
  signature.overload = schema.name.overload;
  signature.is_vararg = schema.is_vararg;
  signature.is_varret = schema.is_varret;
  for (const SchemaArgument& argument : schema.arguments) {
    Argument made;
    made.name = argument.name;
    made.type = script_type(argument.type);
    made.is_kwarg_only = argument.is_kwarg_only;
    made.list_size = argument.type.without_optional().list_size();
    if (argument.default_value) made.default_value = script_default(*argument.default_value, made.type);
    signature.arguments.push_back(std::move(made));
  }
  bool all_named = true;
  for (const SchemaArgument& result : schema.returns) {
    signature.returns.push_back(script_type(result.type));
    signature.return_names.push_back(result.name);
    all_named = all_named && !result.name.empty();
  }
  if (!all_named) signature.return_names.clear();
  return signature;
}

}  // namespace flambeau::script
