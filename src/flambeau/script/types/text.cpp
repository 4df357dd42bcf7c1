#include "flambeau/script/types/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/value/schema_cursor.h"

namespace flambeau::script {
namespace {

struct AnnotationName {
  std::string_view name;
  TypeKind kind;
};

// The first name of a kind is the one that is printed. Kinds that TorchScript does not tell from another have
// that one's name.
constexpr AnnotationName kAnnotationNames[] = {
    {"Tensor", TypeKind::kTensor},
    {"int", TypeKind::kInt},
    {"float", TypeKind::kFloat},
    {"bool", TypeKind::kBool},
    {"str", TypeKind::kString},
    {"complex", TypeKind::kComplex},
    {"number", TypeKind::kNumber},
    {"Device", TypeKind::kDevice},
    {"Generator", TypeKind::kGenerator},
    {"Stream", TypeKind::kStream},
    {"NoneType", TypeKind::kNone},
    {"None", TypeKind::kNone},
    {"Any", TypeKind::kAny},
    {"Capsule", TypeKind::kCapsule},
    {"list", TypeKind::kAnyList},
    {"tuple", TypeKind::kAnyTuple},
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

std::string_view annotation_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::kSymInt:
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
      return "int";
    case TypeKind::kSymFloat:
      return "float";
    case TypeKind::kSymBool:
      return "bool";
    default:
      break;
  }
  const auto found = std::ranges::find(kAnnotationNames, kind, &AnnotationName::kind);
  return found == std::end(kAnnotationNames) ? plain_type_name(kind) : found->name;
}

class AnnotationPrinter {
 public:
  explicit AnnotationPrinter(const ClassNames& class_names) : class_names_(class_names) {}

  void print(const Type& type) {
    switch (type.kind()) {
      case TypeKind::kVariable:
        text += type.name();
        break;
      case TypeKind::kClass:
      case TypeKind::kFunction:
        text += class_names_ ? class_names_(type.name()) : std::string(type.name());
        break;
      case TypeKind::kOptional:
        print_generic("Optional", type.elements());
        break;
      case TypeKind::kList:
        print_generic("List", type.elements());
        break;
      case TypeKind::kTuple:
        if (type.elements().empty()) {
          text += "Tuple[()]";
        } else {
          print_generic("Tuple", type.elements());
        }
        break;
      case TypeKind::kDict:
        print_generic("Dict", type.elements());
        break;
      case TypeKind::kFuture:
        print_generic("Future", type.elements());
        break;
      case TypeKind::kAwait:
        print_generic("Await", type.elements());
        break;
      case TypeKind::kRRef:
        print_generic("RRef", type.elements());
        break;
      case TypeKind::kUnion:
        print_union(type.elements());
        break;
      default:
        text += annotation_name(type.kind());
    }
  }

  std::string text;

 private:
  void print_generic(std::string_view name, std::span<const Type> elements) {
    text += name;
    text += '[';
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i != 0) text += ", ";
      print(elements[i]);
    }
    text += ']';
  }

  // A union that holds all three kinds of numbers names them once, last.
  void print_union(std::span<const Type> elements) {
    const auto is_number = [](const Type& type) {
      return type.is(TypeKind::kInt) || type.is(TypeKind::kFloat) || type.is(TypeKind::kComplex);
    };
    if (std::ranges::count_if(elements, is_number) < 3) return print_generic("Union", elements);
    std::vector<Type> shown;
    std::ranges::remove_copy_if(elements, std::back_inserter(shown), is_number);
    shown.emplace_back(TypeKind::kNumber);
    print_generic("Union", shown);
  }

  const ClassNames& class_names_;
};

class AnnotationParser {
 public:
  AnnotationParser(std::string_view text, const Unit* unit) : cursor_(text), unit_(unit) {}

  Type parse_all() {
    const Type type = parse();
    if (!cursor_.at_end()) cursor_.fail_expected("the end of the type");
    return type;
  }

 private:
  Type parse() {
    if (++depth_ > kMostTypeDepth) {
      SchemaCursor::fail_at(cursor_.offset(),
                            fmt::format("a type nests deeper than {} levels", kMostTypeDepth),
                            ErrorCode::kLimit);
    }
    Type type = parse_one();
    if (cursor_.at('|')) {
      std::vector<Type> alternatives{type};
      while (cursor_.take('|')) alternatives.push_back(parse_one());
      type = make_union(unit_, alternatives);
    }
    --depth_;
    return type;
  }

  Type parse_one() {
    const size_t start = cursor_.offset();
    std::string name(cursor_.identifier("a type"));
    while (cursor_.take('.')) name.append(".").append(cursor_.identifier("the rest of a dotted name"));
    if (cursor_.take('[')) return parse_generic(name, start);
    if (const std::optional<Type> found = find_annotation_name(name)) return *found;
    if (name.find('.') == std::string::npos)
      SchemaCursor::fail_at(start, fmt::format("there is no type '{}'", printable(name)));
    return Type::class_named(std::move(name));
  }

  Type parse_generic(const std::string& name, size_t start) {
    std::vector<Type> arguments;
    if (cursor_.take('(')) {
      cursor_.expect(')');  // Tuple[()]
    } else {
      do arguments.push_back(parse());
      while (cursor_.take(','));
    }
    cursor_.expect(']');
    try {
      if (std::optional<Type> made = make_generic_type(name, std::move(arguments), unit_))
        return *std::move(made);
    } catch (Error& error) {
      if (error.code() == ErrorCode::kInvalidArgument) SchemaCursor::fail_at(start, error.message());
      throw;
    }
    SchemaCursor::fail_at(start, fmt::format("'{}' is no type that takes others", printable(name)));
  }

  SchemaCursor cursor_;
  const Unit* unit_;
  int depth_ = 0;
};

}  // namespace

std::string annotation_text(const Type& type, const ClassNames& class_names) {
  AnnotationPrinter printer(class_names);
  printer.print(type);
  return std::move(printer.text);
}

std::optional<Type> find_annotation_name(std::string_view name) {
  // "torch.Tensor", and its kin.
  if (name.starts_with("torch.") && name.ends_with("Tensor")) name.remove_prefix(6);
  if (name == "torch.device") name = "Device";
  const auto found = std::ranges::find(kAnnotationNames, name, &AnnotationName::name);
  if (found == std::end(kAnnotationNames)) return std::nullopt;
  return found->kind;
}

std::optional<Type> make_generic_type(std::string_view name, std::vector<Type> arguments, const Unit* unit) {
  const auto need = [&](size_t count) {
    if (arguments.size() != count) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{}[...] holds {} type{}, found {}", name, count,
                                                           count == 1 ? "" : "s", arguments.size()));
    }
  };
  if (name == "Tuple" || name == "tuple") return Type::tuple(std::move(arguments));
  if (name == "Union") {
    if (arguments.empty()) need(1);
    return make_union(unit, arguments);
  }
  if (name == "Dict" || name == "dict") {
    need(2);
    return Type::dict(arguments[0], arguments[1]);
  }
  using Make = Type (*)(Type element);
  Make make = nullptr;
  if (name == "Future" || name == "torch.jit.Future")
    make = [](Type element) { return Type::future(std::move(element)); };
  if (name == "Await" || name == "torch.jit._Await")
    make = [](Type element) { return Type::await(std::move(element)); };
  if (name == "RRef") make = [](Type element) { return Type::rref(std::move(element)); };
  if (name == "List" || name == "list") make = [](Type element) { return Type::list(std::move(element)); };
  if (name == "Optional") {
    need(1);
    return make_optional(unit, arguments[0]);
  }
  if (make == nullptr) return std::nullopt;
  need(1);
  return make(std::move(arguments[0]));
}

Type parse_annotation(std::string_view text, const Unit* unit) {
  return AnnotationParser(text, unit).parse_all();
}

}  // namespace flambeau::script
