#include "flambeau/script/types/type_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

struct PlainName {
  std::string_view name;
  TypeKind kind;
};
// The first of a kind is how it is written.
constexpr PlainName kPlainNames[] = {
    {"Tensor", TypeKind::kTensor},
    {"int", TypeKind::kInt},
    {"float", TypeKind::kFloat},
    {"bool", TypeKind::kBool},
    {"str", TypeKind::kString},
    {"complex", TypeKind::kComplex},
    {"number", TypeKind::kNumber},
    {"Device", TypeKind::kDevice},
    {"Generator", TypeKind::kGenerator},
    {"Storage", TypeKind::kStorage},
    {"Stream", TypeKind::kStream},
    {"Quantizer", TypeKind::kQuantizer},
    {"Capsule", TypeKind::kCapsule},
    {"PyObject", TypeKind::kPyObject},
    {"NoneType", TypeKind::kNone},
    {"None", TypeKind::kNone},
    {"Any", TypeKind::kAny},
    {"AnyEnumType", TypeKind::kAnyEnum},
    {"AnyClassType", TypeKind::kAnyClass},
    {"LongTensor", TypeKind::kTensor},
    {"DoubleTensor", TypeKind::kTensor},
    {"FloatTensor", TypeKind::kTensor},
    {"IntTensor", TypeKind::kTensor},
    {"ShortTensor", TypeKind::kTensor},
    {"HalfTensor", TypeKind::kTensor},
    {"CharTensor", TypeKind::kTensor},
    {"ByteTensor", TypeKind::kTensor},
    {"BoolTensor", TypeKind::kTensor},
};

void append_annotation(const Type& type, std::string& to);

void append_elements(std::string_view name, const Type& type, std::string& to) {
  to += name;
  to += '[';
  std::string_view separator;
  for (const Type& element : type.elements()) {
    to += std::exchange(separator, ", ");
    append_annotation(element, to);
  }
  if (type.elements().empty()) to += "()";
  to += ']';
}

void append_annotation(const Type& type, std::string& to) {
  switch (type.kind()) {
    case TypeKind::kOptional:
      return append_elements("Optional", type, to);
    case TypeKind::kList:
      return append_elements("List", type, to);
    case TypeKind::kTuple:
      return append_elements("Tuple", type, to);
    case TypeKind::kDict:
      return append_elements("Dict", type, to);
    case TypeKind::kUnion:
      return append_elements("Union", type, to);
    case TypeKind::kFuture:
      return append_elements("Future", type, to);
    case TypeKind::kAwait:
      return append_elements("Await", type, to);
    case TypeKind::kRRef:
      return append_elements("RRef", type, to);
    case TypeKind::kVariable:
    case TypeKind::kClass:
      to += type.name();
      return;
    case TypeKind::kSymInt:
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kQScheme:
      to += "int";
      return;
    case TypeKind::kSymFloat:
      to += "float";
      return;
    case TypeKind::kSymBool:
      to += "bool";
      return;
    default:
      break;
  }
  const auto* const found = std::find_if(std::begin(kPlainNames), std::end(kPlainNames),
                                         [&](const PlainName& plain) { return plain.kind == type.kind(); });
  if (found != std::end(kPlainNames)) to += found->name;
}

class AnnotationReader {
 public:
  explicit AnnotationReader(std::string_view text) : text_(text) {}

  Type read() {
    Type type = read_type(0);
    skip_blanks();
    if (at_ != text_.size()) fail("the end");
    return type;
  }

 private:
  Type read_type(int depth) {
    if (depth > kMostTypeDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("a type is nested more than {} deep", kMostTypeDepth));
    }
    Type type = read_named(depth);
    std::vector<Type> choices;
    while (take('|')) choices.push_back(read_named(depth));
    if (choices.empty()) return type;
    choices.insert(choices.begin(), std::move(type));
    return Type::union_of(std::move(choices));
  }

  Type read_named(int depth) {
    const std::string_view name = read_name();
    if (!take('[')) {
      if (const std::optional<TypeKind> plain = find_plain_annotation(name)) return *plain;
      return Type::class_named(std::string(name));
    }
    std::vector<Type> elements;
    if (name == "Tuple" && take('(')) {
      need(')');
      need(']');
      return Type::tuple({});
    }
    do elements.push_back(read_type(depth + 1));
    while (take(','));
    need(']');
    return make(name, std::move(elements));
  }

  Type make(std::string_view name, std::vector<Type> elements) const {
    if (name == "Tuple") return Type::tuple(std::move(elements));
    if (name == "Union") return Type::union_of(std::move(elements));
    if (name == "Dict" && elements.size() == 2) return Type::dict(elements[0], elements[1]);
    using Make = Type (*)(Type);
    constexpr std::array<std::pair<std::string_view, Make>, 5> kOfOne = {{
        {"List", [](Type element) { return Type::list(std::move(element)); }},
        {"Optional", Type::optional},
        {"Future", Type::future},
        {"Await", Type::await},
        {"RRef", Type::rref},
    }};
    for (const auto& [called, make_one] : kOfOne) {
      if (name == called && elements.size() == 1) return make_one(elements[0]);
    }
    corrupt(fmt::format("'{}' of {} types is not a type, in '{}'", printable(name), elements.size(),
                        printable(text_)));
  }

  std::string_view read_name() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
    if (at_ == begin) fail("a name");
    return text_.substr(begin, at_ - begin);
  }

  // Names may hold any letters: what ends one is a sign of ours.
  static bool is_name_byte(char byte) {
    return std::string_view("[](),| \t\n\r").find(byte) == std::string_view::npos;
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char sign) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  void need(char sign) {
    if (!take(sign)) fail(fmt::format("'{}'", sign));
  }
  [[noreturn]] void fail(std::string_view wanted) const {
    corrupt(fmt::format("'{}' is not a type: {} is expected at byte {}", printable(text_), wanted, at_));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string annotation_text(const Type& type) {
  std::string text;
  append_annotation(type, text);
  return text;
}

std::optional<TypeKind> find_plain_annotation(std::string_view name) {
  for (const PlainName& plain : kPlainNames) {
    if (plain.name == name) return plain.kind;
  }
  return std::nullopt;
}

Type parse_annotation(std::string_view text) { return AnnotationReader(text).read(); }

}  // namespace flambeau::script
