// Expressions that need nothing to run: defaults of arguments and fields, and constants of classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flambeau/script/compiler/names.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/literals.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;
using syntax::Node;
using syntax::Tree;

class ConstantReader {
 public:
  ConstantReader(Unit& unit, const OuterNames& names, const Tree& tree)
      : unit_(unit), names_(names), tree_(tree) {}

  IValue read(const Node& node, const Type& wanted) const {
    const Type& type = wanted.without_optional();
    switch (node.kind) {
      case Kind::kNumber:
        return read_number(node, type);
      case Kind::kString:
        if (type.is(TypeKind::kDevice)) return device(node);
        return node.text;
      case Kind::kTrue:
        return true;
      case Kind::kFalse:
        return false;
      case Kind::kNone:
        return {};
      case Kind::kName:
        return read_name(node);
      case Kind::kSelect:
        return read_select(node);
      case Kind::kList:
        return read_list(node, type);
      case Kind::kTuple:
        return read_tuple(node, type);
      case Kind::kDict:
        return read_dict(node, type);
      case Kind::kNegate:
      case Kind::kAdd:
      case Kind::kSubtract:
        return read_sum(node, type);
      case Kind::kCall:
        return read_call(node, wanted);
      default:
        refuse(node);
    }
  }

 private:
  [[noreturn]] void refuse(const Node& node) const {
    fail_at(tree_.range(node), ErrorCode::kUnsupported, "a default or constant is a literal, this is not");
  }

  Device device(const Node& node) const {
    const std::optional<Device> found = parse_device(node.text);
    if (!found) fail_at(tree_.range(node), "'" + printable(node.text) + "' is no device");
    return *found;
  }

  IValue read_number(const Node& node, const Type& type) const {
    const syntax::Number number = syntax::read_number(node.text, tree_.range(node));
    if (const auto* integer = std::get_if<int64_t>(&number)) {
      // PyTorch prints floats from 1e15 on without a dot.
      if (type.is(TypeKind::kFloat)) return static_cast<double>(*integer);
      return *integer;
    }
    if (const auto* real = std::get_if<double>(&number)) return *real;
    return std::get<std::complex<double>>(number);
  }

  IValue read_name(const Node& node) const {
    if (node.text == "inf") return std::numeric_limits<double>::infinity();
    if (node.text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (node.text == "infj") return std::complex<double>(0, std::numeric_limits<double>::infinity());
    if (node.text == "nanj") return std::complex<double>(0, std::numeric_limits<double>::quiet_NaN());
    refuse(node);
  }

  // CONSTANTS.c0, or an enum's value.
  IValue read_select(const Node& node) const {
    const std::string of = dotted_name(node.child(0));
    if (of == "CONSTANTS") return names_.constant(node.text, tree_.range(node));
    if (const std::shared_ptr<Class> found = of.empty() ? nullptr : names_.find_class(of)) {
      if (const Enumerator* one = found->find_enumerator(node.text)) {
        return IValue::enumerator(found, one->name, one->value);
      }
    }
    refuse(node);
  }

  IValue read_list(const Node& node, const Type& type) const {
    // Without a type, the first element's.
    std::optional<Type> element;
    if (type.is(TypeKind::kList)) element = type.element();
    std::vector<IValue> items;
    for (const Node* child : node.children) {
      items.push_back(read(*child, element.value_or(TypeKind::kAny)));
    }
    if (!element) element = items.empty() ? Type(TypeKind::kTensor) : runtime_type(items[0]);
    return IValue::list(*element, std::move(items));
  }

  IValue read_tuple(const Node& node, const Type& type) const {
    const std::optional<Type> tuple = as_tuple_type(&unit_, type);
    std::vector<IValue> items;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool is_known = tuple && i < tuple->elements().size();
      items.push_back(read(node.child(i), is_known ? tuple->elements()[i] : Type(TypeKind::kAny)));
    }
    return IValue::tuple(std::move(items));
  }

  IValue read_dict(const Node& node, const Type& type) const {
    std::vector<IValue> parts;
    const bool is_known = type.is(TypeKind::kDict);
    for (size_t i = 0; i < node.children.size(); ++i) {
      parts.push_back(read(node.child(i), is_known ? type.elements()[i % 2] : Type(TypeKind::kAny)));
    }
    const Type key = is_known        ? type.elements()[0]
                     : parts.empty() ? Type(TypeKind::kString)
                                     : runtime_type(parts[0]);
    const Type value = is_known        ? type.elements()[1]
                       : parts.empty() ? Type(TypeKind::kTensor)
                                       : runtime_type(parts[1]);
    IValue dict = IValue::dict(key, value);
    for (size_t i = 0; i + 1 < parts.size(); i += 2) dict.as_dict().items.set(parts[i], parts[i + 1]);
    return dict;
  }

  // -x, and a complex number that is written as a sum.
  IValue read_sum(const Node& node, const Type& type) const {
    const auto number = [](const IValue& value) {
      return value.is(IValue::Tag::kComplex) ? value.as_complex()
             : value.is(IValue::Tag::kInt)   ? std::complex<double>(static_cast<double>(value.as_int()))
                                             : std::complex<double>(value.as_float());
    };
    const IValue left = read(node.child(0), type);
    const auto is_number = [](const IValue& value) {
      return value.is(IValue::Tag::kInt) || value.is(IValue::Tag::kFloat) || value.is(IValue::Tag::kComplex);
    };
    if (!is_number(left)) refuse(node);
    if (node.is(Kind::kNegate)) {
      if (left.is(IValue::Tag::kInt)) return static_cast<int64_t>(0 - static_cast<uint64_t>(left.as_int()));
      if (left.is(IValue::Tag::kFloat)) return -left.as_float();
      return -left.as_complex();
    }
    const IValue right = read(node.child(1), type);
    if (!is_number(right)) refuse(node);
    if (!left.is(IValue::Tag::kComplex) && !right.is(IValue::Tag::kComplex)) refuse(node);
    // Not their sum as complex numbers: inf + nan*j would lose a part.
    const double real = number(left).real();
    const double imaginary = number(right).imag();
    return std::complex<double>(real, node.is(Kind::kAdd) ? imaginary : -imaginary);
  }

  // annotate(T, x), torch.device("cpu"), int(x) and the like of literals, a named tuple.
  IValue read_call(const Node& node, const Type& wanted) const {
    const std::string callee = dotted_name(node.child(0));
    const size_t count = node.children.size() - 1;
    if ((callee == "annotate" || callee == "unchecked_cast") && count == 2) {
      return read(node.child(2), read_type(unit_, names_, tree_, node.child(1)));
    }
    if (callee == "torch.device" && count == 1 && node.child(1).is(Kind::kString)) {
      return device(node.child(1));
    }
    if (const std::shared_ptr<Class> found = callee.empty() ? nullptr : names_.find_class(callee)) {
      if (found->kind() == ClassKind::kNamedTuple && count == found->attributes.size()) {
        std::vector<IValue> items;
        for (size_t i = 0; i < count; ++i) {
          const Node& argument = node.child(i + 1);
          items.push_back(
              read(argument.is(Kind::kKeyword) ? argument.child(0) : argument, found->attributes[i].type));
        }
        return IValue::named_tuple(std::move(items), found);
      }
    }
    (void)wanted;
    refuse(node);
  }

  Unit& unit_;
  const OuterNames& names_;
  const Tree& tree_;
};

// Whether a literal is a value of the type, each part of it too: lists and dicts were made to hold what was
// asked for.
bool fits(const Unit& unit, const IValue& value, const Type& type) {
  if (type.is(TypeKind::kOptional)) {
    return value.is(IValue::Tag::kNone) || fits(unit, value, type.without_optional());
  }
  if (value.is(IValue::Tag::kList) && type.is(TypeKind::kList)) {
    return std::ranges::all_of(value.items(),
                               [&](const IValue& item) { return fits(unit, item, type.element()); });
  }
  if (value.is(IValue::Tag::kDict) && type.is(TypeKind::kDict)) {
    return std::ranges::all_of(value.as_dict().items.entries(), [&](const DictItems::Entry& entry) {
      return fits(unit, entry.key, type.elements()[0]) && fits(unit, entry.value, type.elements()[1]);
    });
  }
  const std::optional<Type> tuple = as_tuple_type(&unit, type);
  if (value.is(IValue::Tag::kTuple) && tuple) {
    const std::vector<IValue>& items = value.items();
    if (items.size() != tuple->elements().size()) return false;
    for (size_t i = 0; i < items.size(); ++i) {
      if (!fits(unit, items[i], tuple->elements()[i])) return false;
    }
    return true;
  }
  return is_instance(&unit, value, type);
}

// What the language makes of a literal without being asked: a flag is a number, a tuple a list.
IValue converted(IValue value, const Type& type) {
  const Type& plain = type.without_optional();
  if (plain.is(TypeKind::kInt) && value.is(IValue::Tag::kBool)) return int64_t{value.as_bool() ? 1 : 0};
  if (plain.is(TypeKind::kList) && value.is(IValue::Tag::kTuple))
    return IValue::list(plain.element(), value.items());
  return value;
}

}  // namespace

IValue read_constant(Unit& unit, const OuterNames& names, const Tree& tree, const Node& node,
                     const Type& type) {
  IValue value = converted(ConstantReader(unit, names, tree).read(node, type), type);
  if (!fits(unit, value, type)) {
    fail_at(tree.range(node), fmt::format("a value of type {} is expected, this is of type {}",
                                          printable(annotation_text(type), 100),
                                          printable(annotation_text(runtime_type(value)), 100)));
  }
  return value;
}

}  // namespace flambeau::script::compiler
