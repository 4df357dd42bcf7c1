#include "flambeau/script/compiler/type_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flambeau/base/ascii.h"
#include "flambeau/base/nearest.h"
#include "flambeau/script/compiler/names.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/literals.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;
using syntax::Node;
using syntax::Tree;

// X | Y | Z, and what Union[...] has inside.
std::vector<Type> read_types(const Unit& unit, const OuterNames& names, const Tree& tree,
                             std::span<const Node* const> nodes) {
  std::vector<Type> types;
  types.reserve(nodes.size());
  for (const Node* node : nodes) types.push_back(read_type(unit, names, tree, *node));
  return types;
}

std::string near_type(const OuterNames& names, const std::string& name) {
  std::vector<std::string> known = names.suggestions();
  for (const char* word :
       {"Tensor", "int", "float", "bool", "str", "complex", "None", "Any", "List", "Dict", "Tuple",
        "Optional", "Union", "Future", "torch.device", "torch.Tensor", "torch.dtype"}) {
    known.emplace_back(word);
  }
  return did_you_mean(name, known);
}

Type read_named_type(const OuterNames& names, const Tree& tree, const Node& node, const std::string& name) {
  if (const auto known = find_annotation_name(name)) return *known;
  if (name.starts_with("torch.")) {
    // torch.Tensor and the like.
    const std::string_view rest = std::string_view(name).substr(6);
    if (const auto known = find_annotation_name(rest); known && known->is(TypeKind::kTensor)) return *known;
    if (rest == "nn.Parameter" || rest == "nn.parameter.Parameter") return TypeKind::kTensor;
    if (rest == "device") return TypeKind::kDevice;
    if (rest == "Generator") return TypeKind::kGenerator;
    if (rest == "Size") return Type::list(TypeKind::kInt);
    if (rest == "dtype" || rest == "layout" || rest == "memory_format" || rest == "qscheme")
      return TypeKind::kInt;
    if (rest.starts_with("classes.")) {
      if (const std::shared_ptr<Class> found = names.find_class("__torch__." + name)) return found->type();
    }
  }
  if (const std::shared_ptr<Class> found = names.find_class(name)) return found->type();
  if (name == "List" || name == "Dict" || name == "Tuple" || name == "Optional" || name == "Union" ||
      name == "Future") {
    fail_at(tree.range(node), ErrorCode::kInvalidArgument,
            "'" + name + "' alone is no type: what it is made of must be said",
            name == "Dict" ? "write Dict[str, int], for instance" : "write " + name + "[int], for instance");
  }
  fail_at(tree.range(node), ErrorCode::kNotFound, "there is no type '" + printable(name) + "'",
          near_type(names, name));
}

}  // namespace

std::string shown(const Type& type) {
  constexpr size_t kMostShownOfType = 200;
  constexpr std::string_view kPrefix = "__torch__.";
  std::string text = annotation_text(type);
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  return printable(text, kMostShownOfType);
}

std::string with_article(const Type& type) {
  const std::string text = shown(type);
  const bool is_vowel = std::string_view("aeioAEIO").find(text[0]) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + text;
}

std::string dotted_name(const Node& node) {
  std::vector<std::string_view> parts;
  const Node* at = &node;
  for (; at->is(Kind::kSelect); at = &at->child(0)) parts.push_back(at->text);
  if (!at->is(Kind::kName)) return {};
  std::string name = at->text;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    name += '.';
    name += *part;
  }
  return name;
}

namespace {

// As archives say it: "Optional" of "typing.Optional".
std::string type_name(const OuterNames& names, const Node& node) {
  constexpr std::string_view kTyping = "typing.";
  std::string name = dotted_name(node);
  if (name.empty()) return name;
  name = names.without_aliases(std::move(name));
  if (name.starts_with(kTyping)) name.erase(0, kTyping.size());
  return name;
}

Type read_type_inside(const Unit& unit, const OuterNames& names, const Tree& tree, const Node& node) {
  const SourceRange place = tree.range(node);
  switch (node.kind) {
    case Kind::kNone:
    case Kind::kNoneType:
      return TypeKind::kNone;
    case Kind::kBitOr: {
      const Type both[] = {read_type(unit, names, tree, node.child(0)),
                           read_type(unit, names, tree, node.child(1))};
      return *make_generic_type("Union", {both[0], both[1]}, &unit);
    }
    case Kind::kString: {
      std::string name = node.text;
      if (name.starts_with("torch.classes.")) name.insert(0, "__torch__.");
      return read_named_type(names, tree, node, name);
    }
    case Kind::kSubscript: {
      std::string name = type_name(names, node.child(0));
      if (name.starts_with("torch.jit.")) name = name.substr(name.find_first_not_of('_', 10));
      std::span<const Node* const> inside = std::span(node.children).subspan(1);
      // Tuple[()] has no elements.
      if (inside.size() == 1 && inside[0]->is(Kind::kTuple) && inside[0]->children.empty()) inside = {};
      const auto made = make_generic_type(name, read_types(unit, names, tree, inside), &unit);
      if (!made) {
        fail_at(place, ErrorCode::kNotFound, "there is no type '" + printable(name) + "[...]'",
                near_type(names, name));
      }
      return *made;
    }
    default:
      break;
  }
  const std::string name = type_name(names, node);
  if (name.empty()) fail_at(place, ErrorCode::kInvalidArgument, "this is no type");
  return read_named_type(names, tree, node, name);
}

}  // namespace

Type read_type(const Unit& unit, const OuterNames& names, const Tree& tree, const Node& node) {
  try {
    return read_type_inside(unit, names, tree, node);
  } catch (Error& error) {
    syntax::locate(error, tree.range(node));
    throw;
  }
}

std::optional<BroadcastingList> read_broadcasting_list(const Tree& tree, const Node& node) {
  constexpr std::string_view kPrefix = "BroadcastingList";
  if (node.is(Kind::kName)) {
    const std::string_view name = node.text;
    if (name.size() == 9 && name.starts_with("_size_") && is_digit(name[6]) && name.ends_with("_t")) {
      return BroadcastingList{Type::list(TypeKind::kInt), name[6] - '0'};
    }
    return std::nullopt;
  }
  if (!node.is(Kind::kSubscript) || node.children.size() != 2 || !node.child(0).is(Kind::kName))
    return std::nullopt;
  const std::string_view name = node.child(0).text;
  if (name == "Optional") {
    auto inside = read_broadcasting_list(tree, node.child(1));
    if (inside) inside->type = Type::optional(inside->type);
    return inside;
  }
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  const Node& element = node.child(1);
  const bool is_float = element.is(Kind::kName) && element.text == "float";
  const bool is_int = element.is(Kind::kName) && element.text == "int";
  if (digits.size() != 1 || !is_digit(digits[0]) || (!is_float && !is_int)) {
    fail_at(tree.range(node), ErrorCode::kInvalidArgument,
            "a broadcasting list is BroadcastingList2[int], or of float");
  }
  return BroadcastingList{Type::list(is_float ? TypeKind::kFloat : TypeKind::kInt), digits[0] - '0'};
}

Signature read_signature(Unit& unit, const OuterNames& names, const Tree& tree, const Node& definition,
                         const Class* self) {
  Signature signature;
  signature.name = definition.text;
  const auto& parameters = definition.child(0).children;
  if (self != nullptr && parameters.empty()) {
    fail_at(tree.range(definition), ErrorCode::kInvalidArgument,
            "a method takes its object as the first argument");
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Node& parameter = *parameters[i];
    Argument argument;
    argument.name = parameter.text;
    argument.is_kwarg_only = parameter.is_keyword_only;
    const bool is_twice =
        std::ranges::find(signature.arguments, parameter.text, &Argument::name) != signature.arguments.end();
    if (is_twice && !names.version()) {
      fail_at(tree.range(parameter), ErrorCode::kInvalidArgument,
              "two arguments are called '" + printable(parameter.text) + "'");
    }
    if (self != nullptr && i == 0) {
      argument.type = self->type();
      signature.arguments.push_back(std::move(argument));
      continue;
    }
    if (const Node* type = parameter.maybe(0)) {
      if (const auto list = read_broadcasting_list(tree, *type)) {
        argument.type = list->type;
        argument.list_size = list->size;
      } else {
        argument.type = read_type(unit, names, tree, *type);
      }
    }
    if (const Node* value = parameter.maybe(1)) {
      if (parameter.maybe(0) == nullptr) {
        fail_at(tree.range(parameter), ErrorCode::kInvalidArgument, "an argument with a default has a type");
      }
      const Type& plain = argument.type.without_optional();
      if (argument.list_size && value->is(Kind::kNumber)) {
        // One number stands for all.
        const IValue one = read_constant(unit, names, tree, *value, plain.element());
        argument.default_value =
            IValue::list(plain.element(), std::vector<IValue>(static_cast<size_t>(*argument.list_size), one));
      } else {
        argument.default_value = read_constant(unit, names, tree, *value, argument.type);
      }
    }
    signature.arguments.push_back(std::move(argument));
  }
  if (const Node* result = definition.maybe(1)) signature.returns = {read_type(unit, names, tree, *result)};
  return signature;
}

}  // namespace flambeau::script::compiler
