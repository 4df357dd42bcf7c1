#include "flambeau/value/type_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace flambeau {
namespace {

constexpr std::string_view kAnySet = "*";
constexpr size_t kMany = kMostSchemaBytes;
constexpr size_t kMostAliasSets = 64;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

int64_t parse_list_size(SchemaCursor& cursor) {
  const size_t start = cursor.offset();
  const std::string_view digits = cursor.number();
  int64_t size = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (problem == std::errc::invalid_argument || end != digits.data() + digits.size())
    SchemaCursor::fail_at(start, fmt::format("'{}' is not the size of a list", digits));
  if (problem == std::errc::result_out_of_range || size > kMostListSize) {
    SchemaCursor::fail_at(start,
                          fmt::format("a list of fixed size {}; the most is {}", digits, kMostListSize),
                          ErrorCode::kLimit);
  }
  return size;
}

}  // namespace

AnnotatedType TypeParser::parse() {
  AnnotatedType found = parse_unsized();
  if (cursor_.take('[')) {
    const int64_t size = parse_list_size(cursor_);
    cursor_.expect(']');
    wrap_in_list(found, size, parse_alias());
    if (cursor_.at('?')) parse_optional(found);
  }
  return found;
}

AnnotatedType TypeParser::parse_unsized() {
  if (++depth_ > kMostTypeDepth)
    SchemaCursor::fail_at(cursor_.offset(), fmt::format("a type nests deeper than {} levels", kMostTypeDepth),
                          ErrorCode::kLimit);
  const size_t start = cursor_.offset();
  try {
    AnnotatedType found = parse_base();
    while (true) {
      if (at_unsized_brackets()) {
        wrap_in_list(found, std::nullopt, parse_alias());
      } else if (cursor_.at('?')) {
        parse_optional(found);
      } else {
        break;
      }
    }
    --depth_;
    return found;
  } catch (Error& error) {
    if (error.locations().empty()) error.add_location("byte", std::to_string(start));
    throw;
  }
}

bool TypeParser::at_unsized_brackets() {
  if (!cursor_.at('[')) return false;
  SchemaCursor ahead = cursor_;
  ahead.expect('[');
  if (!ahead.take(']')) return false;
  cursor_ = ahead;
  return true;
}

void TypeParser::parse_optional(AnnotatedType& found) {
  cursor_.expect('?');
  found.type = Type::optional(std::move(found.type));
  // PyTorch reads the alias before the "?", and prints it after it where the optional is in a list.
  const size_t start = cursor_.offset();
  std::optional<AliasInfo> alias = parse_alias();
  if (!alias) return;
  if (found.alias && !found.alias->before.empty()) SchemaCursor::fail_at(start, "a type has two aliases");
  if (found.alias) alias->contained = std::move(found.alias->contained);
  found.alias = std::move(alias);
}

void TypeParser::wrap_in_list(AnnotatedType& found, std::optional<int64_t> size,
                              std::optional<AliasInfo> outer) {
  found.type = Type::list(std::move(found.type), size);
  if (found.alias) {
    if (!outer) {
      outer.emplace();
      outer->is_write = found.alias->is_write;
    }
    outer->contained.push_back(*std::move(found.alias));
  }
  found.alias = std::move(outer);
}

AnnotatedType TypeParser::parse_base() {
  if (cursor_.at('(')) return {Type::tuple(parse_elements("a tuple", 0, kMany)), {}};
  const size_t start = cursor_.offset();
  if (!cursor_.at_identifier()) cursor_.fail_expected("a type");
  if (cursor_.take("Future")) return {Type::future(parse_elements("Future", 1, 1)[0]), {}};
  if (cursor_.take("Await")) return {Type::await(parse_elements("Await", 1, 1)[0]), {}};
  if (cursor_.take("RRef")) return {Type::rref(parse_elements("RRef", 1, 1)[0]), {}};
  AnnotatedType found;
  if (cursor_.take("Dict")) {
    const std::vector<Type> types = parse_elements("Dict", 2, 2);
    found.type = Type::dict(types[0], types[1]);
  } else if (cursor_.take("Union")) {
    found.type = Type::union_of(parse_elements("Union", 1, kMany));
  } else {
    found.type = parse_named(start);
  }
  found.alias = parse_alias();
  return found;
}

std::vector<Type> TypeParser::parse_elements(std::string_view of, size_t least, size_t most) {
  const size_t start = cursor_.offset();
  cursor_.expect('(');
  std::vector<Type> types;
  if (!cursor_.at(')')) {
    do types.push_back(parse_unsized().type);
    while (cursor_.take(','));
  }
  cursor_.expect(')');
  if (types.size() < least || types.size() > most) {
    SchemaCursor::fail_at(
        start, fmt::format("{} holds {} type{}, found {}", of, least, least == 1 ? "" : "s", types.size()));
  }
  return types;
}

Type TypeParser::parse_named(size_t start) {
  std::string name(cursor_.identifier("a type"));
  while (cursor_.take('.')) name.append(".").append(cursor_.identifier("the rest of a dotted name"));
  if (const auto kind = find_plain_type(name)) return *kind;
  if (name.find('.') != std::string::npos) return Type::class_named(std::move(name));
  if (name == "double") SchemaCursor::fail_at(start, "schemas know no type 'double'; it is called 'float'");
  if (name == "int64_t")
    SchemaCursor::fail_at(start, "schemas know no type 'int64_t'; it is called 'int', or 'SymInt'");
  if (is_lower(name[0])) return Type::variable(std::move(name));
  SchemaCursor::fail_at(start, fmt::format("there is no type '{}'; a class is written with its module, as "
                                           "__torch__.torch.classes.quantized.LinearPackedParamsBase",
                                           printable(name, 40)));
}

std::optional<AliasInfo> TypeParser::parse_alias() {
  if (cursor_.take('!')) {
    // PyTorch's own shorthand; it forgets the set afterwards, and prints "($0! -> )".
    AliasInfo info;
    info.before.push_back(fmt::format("${}", next_fresh_set_++));
    info.is_write = true;
    return info;
  }
  if (!cursor_.take('(')) return std::nullopt;
  AliasInfo info;
  info.before = parse_alias_sets();
  info.is_write = cursor_.take('!');
  if (!cursor_.take("->")) {
    info.after = info.before;
  } else if (!cursor_.at(')')) {
    info.after = parse_alias_sets();
  }
  cursor_.expect(')');
  return info;
}

std::vector<std::string> TypeParser::parse_alias_sets() {
  std::vector<std::string> sets;
  do {
    std::string set;
    if (cursor_.take('*')) {
      set = kAnySet;
    } else if (cursor_.take('$')) {
      set.append("$").append(cursor_.number());
    } else {
      set = cursor_.identifier("the name of an alias set");
    }
    if (sets.size() == kMostAliasSets) {
      SchemaCursor::fail_at(cursor_.offset(), fmt::format("an alias names more than {} sets", kMostAliasSets),
                            ErrorCode::kLimit);
    }
    // Sets after "*" say nothing more, and a set given twice is one set.
    if (std::ranges::find(sets, kAnySet) == sets.end() && std::ranges::find(sets, set) == sets.end())
      sets.push_back(std::move(set));
  } while (cursor_.take('|'));
  return sets;
}

Type parse_type(std::string_view text) {
  SchemaCursor cursor(text);
  AnnotatedType found = TypeParser(cursor).parse();
  if (found.alias) SchemaCursor::fail_at(0, "expected a type alone, found one with an alias");
  if (!cursor.at_end()) cursor.fail_expected("the end of the type");
  return found.type;
}

}  // namespace flambeau
