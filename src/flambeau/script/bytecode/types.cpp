#include "flambeau/script/bytecode/types.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script::bytecode {
namespace {

constexpr std::string_view kNamedTuple = "[NamedTuple,";
constexpr size_t kMostTypeText = size_t{1} << 16;
constexpr int kMostNamedTuples = 256;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

[[noreturn]] void bad_type(std::string_view text) {
  corrupt(fmt::format("'{}' is not the type of a named tuple", printable(text)));
}

// Behind the bracket that closes the one at `open`.
size_t behind_bracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i + 1;
  }
  bad_type(text);
}

// "[x, Tensor],[y, int]".
void add_fields(Class& tuple, std::string_view fields, Unit& unit) {
  for (fields = trimmed(fields); !fields.empty();) {
    if (fields.front() == ',') fields = trimmed(fields.substr(1));
    if (fields.empty()) break;
    if (fields.front() != '[') bad_type(fields);
    const size_t end = behind_bracket(fields, 0);
    const std::string_view field = fields.substr(1, end - 2);
    const size_t comma = field.find(',');
    if (comma == std::string_view::npos) bad_type(fields);
    Attribute attribute;
    attribute.name = trimmed(field.substr(0, comma));
    attribute.type = parse_annotation(trimmed(field.substr(comma + 1)), &unit);
    tuple.attributes.push_back(std::move(attribute));
    fields = trimmed(fields.substr(end));
  }
}

bool is_named_tuple(const Type& type, const Unit& unit) {
  if (!type.is(TypeKind::kClass)) return false;
  const std::shared_ptr<Class> found = unit.find_class(type.name());
  return found != nullptr && found->kind() == ClassKind::kNamedTuple;
}

std::string named_or_plain(const Type& type, const Unit& unit, int depth) {
  if (depth > kMostTypeDepth) throw Error(ErrorCode::kLimit, "named tuples are nested too deep");
  if (!is_named_tuple(type, unit)) return annotation_text(type);
  std::string fields;
  for (const Attribute& field : unit.get_class(type.name()).attributes) {
    fields += fmt::format("{}[{}, {}]", fields.empty() ? "" : ",", field.name,
                          named_or_plain(field.type, unit, depth + 1));
  }
  return fmt::format("{}[NamedTuple, [{}]]", type.name(), fields);
}

}  // namespace

Type parse_type_text(std::string_view text, Unit& unit) {
  if (text.size() > kMostTypeText) throw Error(ErrorCode::kLimit, "a type of more than 64 KiB of text");
  std::string plain(text);
  int count = 0;
  // The last one has none inside of it.
  for (size_t at = plain.rfind(kNamedTuple); at != std::string::npos; at = plain.rfind(kNamedTuple)) {
    if (++count > kMostNamedTuples) throw Error(ErrorCode::kLimit, "a type with too many named tuples");
    const size_t end = behind_bracket(plain, at);
    size_t begin = at;
    while (begin > 0 && std::string_view("[], ").find(plain[begin - 1]) == std::string_view::npos) --begin;
    const std::string name = plain.substr(begin, at - begin);
    const std::string_view inside =
        trimmed(std::string_view(plain).substr(at + kNamedTuple.size(), end - 1 - at - kNamedTuple.size()));
    if (name.empty() || inside.size() < 2 || inside.front() != '[' || inside.back() != ']') bad_type(text);
    if (unit.find_class(name) == nullptr) {
      auto made = std::make_shared<Class>(ClassKind::kNamedTuple, name);
      add_fields(*made, inside.substr(1, inside.size() - 2), unit);
      unit.add(std::move(made));
    }
    plain.erase(at, end - at);
  }
  return parse_annotation(plain, &unit);
}

std::string type_text(const Type& type, const Unit& unit) {
  if (type.is(TypeKind::kDict)) {
    return fmt::format("Dict[{},{}]", named_or_plain(type.elements()[0], unit, 0),
                       named_or_plain(type.elements()[1], unit, 0));
  }
  if (is_named_tuple(type, unit)) return named_or_plain(type, unit, 0);
  std::string text = annotation_text(type);
  if (text.starts_with("__torch__") && !is_native_class(text)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("bytecode has no objects of a script's own class: {}", printable(text)),
                "make it a module, or keep its fields in a tuple");
  }
  return text;
}

}  // namespace flambeau::script::bytecode
