#include "flambeau/value/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flambeau {
namespace {

void print_sets(const std::vector<std::string>& sets, std::string& to) {
  std::string_view bar;
  for (const std::string& set : sets) {
    to.append(bar).append(set);
    bar = "|";
  }
}

void print_alias(const AliasInfo& alias, std::string& to) {
  to += '(';
  print_sets(alias.before, to);
  if (alias.is_write) to += '!';
  if (alias.before != alias.after) {
    to += " -> ";
    print_sets(alias.after, to);
  }
  to += ')';
}

void print_type(const Type& type, const AliasInfo* alias, std::string& to) {
  const bool is_optional = type.is(TypeKind::kOptional);
  const Type& inner = type.without_optional();
  if (inner.is(TypeKind::kList)) {
    const AliasInfo* contained = alias && !alias->contained.empty() ? &alias->contained.front() : nullptr;
    const Type& element = inner.element();
    if (contained && element.is(TypeKind::kOptional) && !contained->before.empty()) {
      to += element.to_string();  // here alone PyTorch prints the alias after the "?"
      print_alias(*contained, to);
    } else {
      print_type(element, contained, to);
    }
    to += '[';
    if (const auto size = inner.list_size()) to += std::to_string(*size);
    to += ']';
  } else {
    to += inner.to_string();
  }
  if (alias && !alias->before.empty()) print_alias(*alias, to);
  if (is_optional) to += '?';
}

void print_double(double value, std::string& to) {
  // An integer is printed as one, with a point: "1." and "123456789012."
  if (std::isfinite(value) && std::abs(value) < 0x1p63 && std::trunc(value) == value) {
    to += fmt::format("{}.", static_cast<int64_t>(value));
  } else {
    to += fmt::format("{:.17g}", value);
  }
}

void print_quoted(std::string_view text, std::string& to) {
  constexpr std::string_view kEscaped = "\\'\"\a\b\f\n\r\t\v";
  constexpr std::string_view kEscapes = "\\'\"abfnrtv";
  to += '"';
  for (const char c : text) {
    const size_t escape = kEscaped.find(c);
    if (escape != std::string_view::npos) {
      to += '\\';
      to += kEscapes[escape];
    } else if (static_cast<signed char>(c) < 0x20 || c == 0x7f) {  // every byte over 0x7f, as with a sign
      to += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      to += c;
    }
  }
  to += '"';
}

struct DefaultPrinter {
  const Type& type;
  std::string& to;

  void operator()(std::monostate) const { to += "None"; }
  void operator()(bool value) const { to += value ? "True" : "False"; }
  void operator()(int64_t value) const { to += std::to_string(value); }
  void operator()(double value) const { print_double(value, to); }
  void operator()(const std::complex<double>& value) const {
    print_double(value.real(), to);
    to += value.imag() >= 0 ? '+' : '-';
    print_double(std::abs(value.imag()), to);
    to += 'j';
  }
  void operator()(const std::string& value) const {
    if (type.without_optional().is(TypeKind::kDevice)) {
      to += value;
    } else {
      print_quoted(value, to);
    }
  }
  void operator()(const DefaultValue::List& values) const {
    const bool is_int_list = type.is(TypeKind::kList) && type.element().is(TypeKind::kInt);
    if (is_int_list && values.size() > 1 &&
        std::ranges::all_of(values, [&](const DefaultValue& value) { return value == values.front(); })) {
      std::visit(*this, values.front().data);  // "int[2] stride=1"
      return;
    }
    to += '[';
    std::string_view comma;
    for (const DefaultValue& value : values) {
      to += comma;
      std::visit(*this, value.data);
      comma = ", ";
    }
    to += ']';
  }
};

void print_argument(const SchemaArgument& argument, std::string& to) {
  print_type(argument.type, argument.alias ? &*argument.alias : nullptr, to);
  if (!argument.name.empty()) to.append(" ").append(argument.name);
  if (argument.default_value) {
    to += '=';
    std::visit(DefaultPrinter{argument.type, to}, argument.default_value->data);
  }
}

void print_returns(const Schema& schema, std::string& to) {
  std::string inside;
  for (const SchemaArgument& result : schema.returns) {
    if (!inside.empty()) inside += ", ";
    print_argument(result, inside);
  }
  if (schema.is_varret) inside.append(inside.empty() ? "" : ", ").append("...");
  const bool is_single = schema.returns.size() + (schema.is_varret ? 1 : 0) == 1;
  // One value needs no parentheses, unless they would be taken for those of its own type: "((str, t)[])".
  if (is_single && !inside.starts_with('(')) {
    to += inside;
  } else {
    to.append("(").append(inside).append(")");
  }
}

void collect_sets(const AliasInfo& alias, std::vector<std::string_view>& to) {
  to.insert(to.end(), alias.before.begin(), alias.before.end());
  for (const AliasInfo& contained : alias.contained) collect_sets(contained, to);
}

// Sorted.
std::vector<std::string_view> alias_sets(const std::vector<SchemaArgument>& values) {
  std::vector<std::string_view> sets;
  for (const SchemaArgument& value : values) {
    if (value.alias) collect_sets(*value.alias, sets);
  }
  std::ranges::sort(sets);
  return sets;
}

}  // namespace

bool DefaultValue::operator==(const DefaultValue& other) const { return data == other.data; }

bool SchemaArgument::operator==(const SchemaArgument& other) const {
  return name == other.name && type == other.type && alias == other.alias &&
         default_value == other.default_value && is_kwarg_only == other.is_kwarg_only;
}

bool Schema::is_mutable() const { return std::ranges::any_of(arguments, &SchemaArgument::is_written); }

bool Schema::is_view() const {
  if (is_mutable()) return false;
  const std::vector<std::string_view> taken = alias_sets(arguments);
  return std::ranges::any_of(alias_sets(returns), [&](std::string_view set) {
    return set != "*" && std::ranges::binary_search(taken, set);
  });
}

std::optional<size_t> Schema::find_argument(std::string_view argument_name) const {
  const auto found = std::ranges::find(arguments, argument_name, &SchemaArgument::name);
  if (found == arguments.end()) return std::nullopt;
  return found - arguments.begin();
}

std::string to_string(const Schema& schema) {
  std::string text = schema.name.to_string();
  text += '(';
  std::string_view comma;
  bool is_kwarg_only = false;
  for (const SchemaArgument& argument : schema.arguments) {
    text += comma;
    comma = ", ";
    if (argument.is_kwarg_only && !is_kwarg_only) text += "*, ";
    is_kwarg_only |= argument.is_kwarg_only;
    print_argument(argument, text);
  }
  if (schema.is_vararg) text.append(comma).append("...");
  text += ") -> ";
  print_returns(schema, text);
  return text;
}

std::string to_string(const SchemaArgument& argument) {
  std::string text;
  print_argument(argument, text);
  return text;
}

std::string to_string(const DefaultValue& value, const Type& type) {
  std::string text;
  std::visit(DefaultPrinter{type, text}, value.data);
  return text;
}

}  // namespace flambeau
