#include "flambeau/script/printer/type_text.h"

#include <algorithm>

namespace flambeau::script {

namespace {

std::string with_elements(std::string_view word, const Type& type, const PrintedNames& names) {
  std::string text = std::string(word) + "[";
  bool is_first = true;
  for (const Type& element : type.elements()) {
    if (!is_first) text += ", ";
    is_first = false;
    text += type_text(element, names);
  }
  return text + "]";
}

bool is_number(const Type& type) {
  return type.is(TypeKind::kInt) || type.is(TypeKind::kFloat) || type.is(TypeKind::kComplex);
}

// int, float and complex together are a number, which stands last. PyTorch forgets no comma, but may print
// one too many: before it only those count that were not the first.
std::string union_text(const Type& type, const PrintedNames& names) {
  const auto has = [&](TypeKind kind) {
    return std::ranges::any_of(type.elements(), [&](const Type& element) { return element.is(kind); });
  };
  const bool has_number = has(TypeKind::kInt) && has(TypeKind::kFloat) && has(TypeKind::kComplex);
  std::string text = "Union[";
  bool is_separated = false;
  for (size_t i = 0; i < type.elements().size(); ++i) {
    if (has_number && is_number(type.elements()[i])) continue;
    if (i > 0) text += ", ";
    is_separated = is_separated || i > 0;
    text += type_text(type.elements()[i], names);
  }
  if (has_number) text += is_separated ? ", number" : "number";
  return text + "]";
}

std::string_view plain_text(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt:
    case TypeKind::kSymInt:
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kQScheme:
      return "int";
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return "float";
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      return "bool";
    case TypeKind::kNumber:
      return "number";
    default:
      return plain_type_name(kind);
  }
}

}  // namespace

std::string printed_name(const std::string& qualified_name, const PrintedNames& names) {
  return names ? names(qualified_name) : qualified_name;
}

std::string type_text(const Type& type, const PrintedNames& names) {
  switch (type.kind()) {
    case TypeKind::kClass:
      return printed_name(std::string(type.name()), names);
    case TypeKind::kVariable:
      return std::string(type.name());
    case TypeKind::kOptional:
      return with_elements("Optional", type, names);
    case TypeKind::kList:
      return with_elements("List", type, names);
    case TypeKind::kDict:
      return with_elements("Dict", type, names);
    case TypeKind::kTuple:
      return type.elements().empty() ? "Tuple[()]" : with_elements("Tuple", type, names);
    case TypeKind::kFuture:
      return with_elements("Future", type, names);
    case TypeKind::kAwait:
      return with_elements("Await", type, names);
    case TypeKind::kRRef:
      return with_elements("RRef", type, names);
    case TypeKind::kUnion:
      return union_text(type, names);
    default:
      return std::string(plain_text(type.kind()));
  }
}

}  // namespace flambeau::script
