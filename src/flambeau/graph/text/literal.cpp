#include "flambeau/graph/text/literal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "flambeau/graph/text/atoms.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;
using L = Literal::Kind;

constexpr size_t kMaxDepth = 300;

void check_depth(TextScanner& scanner, size_t depth) {
  if (depth <= kMaxDepth) return;
  at_place(scanner.place(), [] { throw Error(ErrorCode::kLimit, "nested more than 300 deep"); });
}

// inf, nan, and a sign before them.
std::optional<double> accept_special(TextScanner& scanner) {
  if (scanner.accept("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (scanner.accept("inf")) return std::numeric_limits<double>::infinity();
  if (scanner.accept("-inf")) return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

struct Real {
  double value = 0;
  std::optional<int64_t> integer;
};

Real parse_number(TextScanner& scanner) {
  const TextPlace place = scanner.place();
  if (const std::optional<double> special = accept_special(scanner)) return {*special, {}};
  // Before "inf" in a complex number.
  if (scanner.accept("+inf")) return {std::numeric_limits<double>::infinity(), {}};
  if (scanner.accept("+nan")) return {std::numeric_limits<double>::quiet_NaN(), {}};
  std::string_view text = scanner.number_text();
  if (text.empty() || text == "-" || text == "+") scanner.fail_expected("a number");
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.find_first_of(".eE") != std::string_view::npos) return {parse_real(text, place), {}};
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range) {
    fail_at(place, fmt::format("{} is beyond 64 bits", printable(text)));
  }
  if (status != std::errc() || end != text.data() + text.size()) {
    fail_at(place, fmt::format("'{}' is no number", printable(text)));
  }
  return {text.starts_with('-') && value == 0 ? -0.0 : static_cast<double>(value), value};
}

// "(1+2j)", or a tuple.
void parse_parenthesis(TextScanner& scanner, Literal& to, size_t depth) {
  const char first = scanner.peek();
  const bool is_number = first == '-' || (first >= '0' && first <= '9') || scanner.peek_word() == "nan" ||
                         scanner.peek_word() == "inf" || scanner.peek_word() == "infj" ||
                         scanner.peek_word() == "nanj";
  if (is_number) {
    const TextPlace place = scanner.place();
    const Real real = parse_number(scanner);
    const char sign = scanner.peek();
    if (sign == '+' || sign == '-') {
      double imaginary = 0;
      // The words are one with the j behind them.
      if (scanner.accept("+infj")) {
        imaginary = std::numeric_limits<double>::infinity();
      } else if (scanner.accept("-infj")) {
        imaginary = -std::numeric_limits<double>::infinity();
      } else if (scanner.accept("+nanj")) {
        imaginary = std::numeric_limits<double>::quiet_NaN();
      } else {
        imaginary = parse_number(scanner).value;
        scanner.expect("j");
      }
      scanner.expect(")");
      to.kind = L::kComplex;
      to.number = {real.value, imaginary};
      return;
    }
    Literal item;
    item.place = place;
    item.kind = real.integer ? L::kInteger : L::kReal;
    item.integer = real.integer.value_or(0);
    item.number = real.value;
    to.items.push_back(std::move(item));
    if (!scanner.accept(","))
      scanner.expect(")");
    else {
      std::vector<Literal> rest = parse_literals(scanner, ")", depth + 1);
      for (Literal& other : rest) to.items.push_back(std::move(other));
    }
  } else {
    to.items = parse_literals(scanner, ")", depth + 1);
  }
  to.kind = L::kTuple;
}

void parse_device(TextScanner& scanner, Literal& to) {
  scanner.expect("(");
  scanner.expect("type");
  scanner.expect("=");
  to.kind = L::kDevice;
  to.text = scanner.string("a device's type");
  if (scanner.accept(",")) {
    scanner.expect("index");
    scanner.expect("=");
    to.integer = scanner.integer("a device's index");
    to.flag = true;
  }
  scanner.expect(")");
}

void parse_dict(TextScanner& scanner, Literal& to, size_t depth) {
  to.kind = L::kDict;
  if (scanner.accept("}")) return;
  do {
    to.keys.push_back(scanner.string("a key"));
    scanner.expect(":");
    to.items.push_back(parse_literal(scanner, depth + 1));
  } while (scanner.accept(","));
  scanner.expect("}");
}

}  // namespace

double parse_real(std::string_view text, TextPlace place) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range) {
    // Python gives 0 or inf for those; nothing prints them.
    fail_at(place, fmt::format("{} is beyond a double's range", printable(text)));
  }
  if (status != std::errc() || end != text.data() + text.size()) {
    fail_at(place, fmt::format("'{}' is no number", printable(text)));
  }
  return value;
}

Extras parse_extras(const std::string& text, TextPlace place) {
  Extras extras;
  at_place(place, [&] {
    json::Value tree = json::parse(text);
    for (auto& [key, value] : tree.as_object()) extras.add(key, std::move(value));
  });
  return extras;
}

std::vector<Literal> parse_literals(TextScanner& scanner, std::string_view close, size_t depth) {
  check_depth(scanner, depth);
  std::vector<Literal> items;
  while (!scanner.accept(close)) {
    items.push_back(parse_literal(scanner, depth));
    if (scanner.accept(",")) continue;
    scanner.expect(close);
    break;
  }
  return items;
}

Literal parse_literal(TextScanner& scanner, size_t depth) {
  check_depth(scanner, depth);
  Literal to;
  to.place = scanner.place();
  const char c = scanner.peek();
  if (c == '\'' || c == '"') {
    to.kind = L::kString;
    to.text = scanner.string("a string");
  } else if (c == '%') {
    to.kind = L::kName;
    to.text = scanner.name("a name");
  } else if (scanner.accept("[")) {
    to.kind = L::kList;
    to.items = parse_literals(scanner, "]", depth + 1);
  } else if (scanner.accept("(")) {
    parse_parenthesis(scanner, to, depth);
  } else if (scanner.accept("{")) {
    parse_dict(scanner, to, depth);
  } else if (c == '-' || (c >= '0' && c <= '9')) {
    if (scanner.accept("-infj")) {
      to.kind = L::kComplex;
      to.number = {0, -std::numeric_limits<double>::infinity()};
      return to;
    }
    const Real real = parse_number(scanner);
    if (scanner.accept("j")) {
      to.kind = L::kComplex;
      to.number = {0, real.value};
    } else {
      to.kind = real.integer ? L::kInteger : L::kReal;
      to.integer = real.integer.value_or(0);
      to.number = real.value;
    }
  } else if (scanner.accept("None")) {
    to.kind = L::kNone;
  } else if (scanner.accept("True")) {
    to.kind = L::kBool;
    to.flag = true;
  } else if (scanner.accept("False")) {
    to.kind = L::kBool;
  } else {
    const std::string_view name = scanner.dotted_name("a value, a constant or a list");
    to.text = name;
    if (name == "inf" || name == "nan") {
      to.kind = L::kReal;
      to.number =
          name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (name == "infj" || name == "nanj") {
      to.kind = L::kComplex;
      to.number = {0, name == "infj" ? std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::quiet_NaN()};
    } else if (name == "device") {
      parse_device(scanner, to);
    } else if (name == "json" || name == "operator") {
      scanner.expect("(");
      to.kind = name == "json" ? L::kJson : L::kOperator;
      to.text = scanner.string(name == "json" ? "JSON in quotes" : "an operator's name in quotes");
      scanner.expect(")");
    } else if (name.find('.') == std::string_view::npos) {
      to.kind = L::kName;
    } else if (name.starts_with("torch.") && name.find('.', 6) == std::string_view::npos) {
      to.kind = L::kTorch;
      to.text = name.substr(6);
    } else {
      to.kind = L::kOperator;
    }
  }
  return to;
}

KindSpec parse_kind(TextScanner& scanner, size_t depth) {
  check_depth(scanner, depth);
  KindSpec spec;
  spec.place = scanner.place();
  const std::string_view word = scanner.word("the kind of an argument");
  if (word == "_") return spec;
  ArgumentKind kind = K::kNone;
  if (!kind_from_word(word, kind)) {
    fail_at(spec.place, fmt::format("'{}' is no kind of argument", printable(word)));
  }
  spec.kind = kind;
  if (kind == K::kStringToArgument && scanner.peek() == '(') {
    spec.items = parse_kinds(scanner, depth + 1);
  } else if (kind == K::kCustomObj) {
    scanner.expect("(");
    spec.class_fqn = scanner.string("a class");
    if (scanner.accept(",")) spec.extras = scanner.string("JSON in quotes");
    scanner.expect(")");
  } else if (kind == K::kDevice && scanner.accept("(")) {
    spec.extras = scanner.string("JSON in quotes");
    scanner.expect(")");
  }
  return spec;
}

std::vector<KindSpec> parse_kinds(TextScanner& scanner, size_t depth) {
  std::vector<KindSpec> kinds;
  scanner.expect("(");
  while (!scanner.accept(")")) {
    kinds.push_back(parse_kind(scanner, depth));
    if (scanner.accept(",")) continue;
    scanner.expect(")");
    break;
  }
  return kinds;
}

}  // namespace flambeau::graph
