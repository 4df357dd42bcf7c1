#include "flambeau/value/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

struct PlainName {
  std::string_view name;
  TypeKind kind;
};

// The first name of a kind is the one that is printed; the others are read only.
constexpr PlainName kPlainNames[] = {
    {"Tensor", TypeKind::kTensor},
    {"int", TypeKind::kInt},
    {"float", TypeKind::kFloat},
    {"bool", TypeKind::kBool},
    {"str", TypeKind::kString},
    {"complex", TypeKind::kComplex},
    {"Scalar", TypeKind::kNumber},
    {"SymInt", TypeKind::kSymInt},
    {"SymFloat", TypeKind::kSymFloat},
    {"SymBool", TypeKind::kSymBool},
    {"Device", TypeKind::kDevice},
    {"ScalarType", TypeKind::kScalarType},
    {"Layout", TypeKind::kLayout},
    {"MemoryFormat", TypeKind::kMemoryFormat},
    {"Generator", TypeKind::kGenerator},
    {"Storage", TypeKind::kStorage},
    {"Stream", TypeKind::kStream},
    {"QScheme", TypeKind::kQScheme},
    {"Quantizer", TypeKind::kQuantizer},
    {"Capsule", TypeKind::kCapsule},
    {"PyObject", TypeKind::kPyObject},
    {"NoneType", TypeKind::kNone},
    {"Any", TypeKind::kAny},
    {"AnyEnumType", TypeKind::kAnyEnum},
    {"AnyClassType", TypeKind::kAnyClass},
    {"list", TypeKind::kAnyList},
    {"tuple", TypeKind::kAnyTuple},
    {"None", TypeKind::kNone},
    {"number", TypeKind::kNumber},
    {"Dimname", TypeKind::kString},
    {"DeviceIndex", TypeKind::kInt},
    {"ConstQuantizerPtr", TypeKind::kInt},
};

}  // namespace

struct Type::Detail {
  std::vector<Type> elements;
  std::string name;
  std::optional<int64_t> size;
  std::vector<std::string> fields = {};
  int depth = 0;
  size_t count = 1;
};

Type::Type(TypeKind kind) : kind_(kind) {
  if (plain_type_name(kind).empty())
    throw Error(ErrorCode::kInvalidArgument, "a type of this kind needs a name or other types");
}

Type::Type(TypeKind kind, Detail detail) : kind_(kind) {
  int deepest = 0;
  for (const Type& element : detail.elements) {
    deepest = std::max(deepest, element.depth());
    detail.count += element.size();
  }
  detail.depth = deepest + 1;
  if (detail.depth > kMostTypeDepth)
    throw Error(ErrorCode::kLimit, fmt::format("a type nests deeper than {} levels", kMostTypeDepth));
  // A tuple of one tuple twice, and so on, would be printed and compared without end.
  if (detail.count > kMostTypeSize)
    throw Error(ErrorCode::kLimit, fmt::format("a type is made of over {} types", kMostTypeSize));
  detail_ = std::make_shared<const Detail>(std::move(detail));
}

Type Type::variable(std::string name) { return {TypeKind::kVariable, Detail{{}, std::move(name), {}}}; }
Type Type::class_named(std::string name) { return {TypeKind::kClass, Detail{{}, std::move(name), {}}}; }
Type Type::function_named(std::string name) { return {TypeKind::kFunction, Detail{{}, std::move(name), {}}}; }
Type Type::optional(Type element) { return {TypeKind::kOptional, Detail{{std::move(element)}, {}, {}}}; }
Type Type::list(Type element, std::optional<int64_t> size) {
  return {TypeKind::kList, Detail{{std::move(element)}, {}, size}};
}
Type Type::tuple(std::vector<Type> elements, std::vector<std::string> fields) {
  if (!fields.empty() && fields.size() != elements.size())
    throw Error(ErrorCode::kInvalidArgument, "a tuple has another number of field names than elements");
  return {TypeKind::kTuple, Detail{std::move(elements), {}, {}, std::move(fields)}};
}
Type Type::dict(Type key, Type value) {
  return {TypeKind::kDict, Detail{{std::move(key), std::move(value)}, {}, {}}};
}
Type Type::union_of(std::vector<Type> elements) {
  return {TypeKind::kUnion, Detail{std::move(elements), {}, {}}};
}
Type Type::future(Type element) { return {TypeKind::kFuture, Detail{{std::move(element)}, {}, {}}}; }
Type Type::await(Type element) { return {TypeKind::kAwait, Detail{{std::move(element)}, {}, {}}}; }
Type Type::rref(Type element) { return {TypeKind::kRRef, Detail{{std::move(element)}, {}, {}}}; }

std::span<const Type> Type::elements() const {
  if (!detail_) return {};
  return detail_->elements;
}

const Type& Type::element() const {
  if (!detail_ || detail_->elements.size() != 1 || is(TypeKind::kTuple) || is(TypeKind::kUnion))
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the type {} has no one element type", to_string()));
  return detail_->elements.front();
}

std::optional<int64_t> Type::list_size() const { return detail_ ? detail_->size : std::nullopt; }

std::string_view Type::name() const { return detail_ ? std::string_view(detail_->name) : ""; }

std::span<const std::string> Type::fields() const {
  if (!detail_) return {};
  return detail_->fields;
}

const Type& Type::without_optional() const {
  return is(TypeKind::kOptional) ? detail_->elements.front() : *this;
}

int Type::depth() const { return detail_ ? detail_->depth : 0; }

size_t Type::size() const { return detail_ ? detail_->count : 1; }

std::string Type::to_string() const {
  std::string text;
  print(text);
  return text;
}

void Type::print(std::string& to) const {
  const auto print_all = [&](std::string_view open) {
    to += open;
    std::string_view comma;
    for (const Type& element : elements()) {
      to += comma;
      element.print(to);
      comma = ", ";
    }
    to += ')';
  };
  switch (kind_) {
    case TypeKind::kVariable:
    case TypeKind::kClass:
      to += detail_->name;
      break;
    case TypeKind::kFunction:
      to += "Function";
      break;
    case TypeKind::kOptional:
      element().print(to);
      to += '?';
      break;
    case TypeKind::kList:
      element().print(to);
      to += '[';
      if (detail_->size) to += std::to_string(*detail_->size);
      to += ']';
      break;
    case TypeKind::kTuple:
      print_all("(");
      break;
    case TypeKind::kDict:
      print_all("Dict(");
      break;
    case TypeKind::kUnion:
      print_all("Union(");
      break;
    case TypeKind::kFuture:
      print_all("Future(");
      break;
    case TypeKind::kAwait:
      print_all("Await(");
      break;
    case TypeKind::kRRef:
      print_all("RRef(");
      break;
    default:
      to += plain_type_name(kind_);
  }
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind_ != b.kind_) return false;
  if (a.detail_ == b.detail_) return true;
  return a.detail_->name == b.detail_->name && a.detail_->size == b.detail_->size &&
         a.detail_->fields == b.detail_->fields && a.detail_->elements == b.detail_->elements;
}

std::optional<TypeKind> find_plain_type(std::string_view name) {
  const auto found = std::ranges::find(kPlainNames, name, &PlainName::name);
  if (found == std::end(kPlainNames)) return std::nullopt;
  return found->kind;
}

std::string_view plain_type_name(TypeKind kind) {
  const auto found = std::ranges::find(kPlainNames, kind, &PlainName::kind);
  return found == std::end(kPlainNames) ? std::string_view() : found->name;
}

}  // namespace flambeau
