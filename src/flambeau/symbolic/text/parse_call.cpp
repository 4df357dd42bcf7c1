#include "flambeau/symbolic/text/parse_call.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

[[noreturn]] void fail(std::string message) { throw Error(ErrorCode::kCorrupt, std::move(message)); }

bool truth(std::string_view keyword, std::string_view value) {
  if (value == "True") return true;
  if (value == "False") return false;
  fail(
      fmt::format("expected True or False for {}, found '{}'", printable(keyword, 40), printable(value, 40)));
}

Expr build_symbol(const CallArguments& arguments) {
  if (arguments.texts.size() != 1 || !arguments.args.empty()) fail("Symbol takes one quoted name");
  const std::string& name = arguments.texts[0];
  if (name.empty()) fail("a symbol has no name");
  Assumptions assumptions;
  for (const auto& [keyword, value] : arguments.keywords) {
    const std::optional<Fact> fact = fact_by_name(keyword);
    if (!fact) fail(fmt::format("'{}' is no assumption about a symbol", printable(keyword, 40)));
    assumptions.emplace_back(*fact, truth(keyword, value));
  }
  return symbol(name, assumptions);
}

Expr build_float(const CallArguments& arguments) {
  if (arguments.texts.size() != 1) fail("Float takes one quoted number");
  for (const auto& [keyword, value] : arguments.keywords)
    if (keyword == "precision" && value != "53")
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("a float of {} bits; only doubles (53) are supported", printable(value, 20)));
  const std::string& text = arguments.texts[0];
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size())
    fail(fmt::format("'{}' is no float", printable(text, 40)));
  return Expr(Number::real(value));
}

Expr build_number(std::string_view name, const CallArguments& arguments) {
  const size_t expected = name == "Integer" ? 1 : 2;
  if (arguments.args.size() != expected || !arguments.texts.empty())
    fail(fmt::format("{} takes {} number{}", name, expected, expected == 1 ? "" : "s"));
  for (const Expr& arg : arguments.args)
    if (!arg.is_integer()) fail(fmt::format("{} takes integers", name));
  if (expected == 1) return arguments.args[0];
  return Expr(Number::rational(arguments.args[0].integer(), arguments.args[1].integer()));
}

// What Python code calls PyTorch's functions.
std::string_view class_of_python_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames = {{
      {"max", "Max"},
      {"min", "Min"},
      {"math.ceil", "CeilToInt"},
      {"math.floor", "FloorToInt"},
      {"math.trunc", "TruncToInt"},
      {"math.sqrt", "OpaqueUnaryFn_sqrt"},
      {"float", "ToFloat"},
      {"round", "RoundToInt"},
      {"Tuple", "ExprCondPair"},
  }};
  for (const auto& [python, class_name] : kNames)
    if (python == name) return class_name;
  return name;
}

// sympy's own elementary functions: classes, though this engine knows nothing of them.
bool is_sympy_function(std::string_view name) {
  constexpr std::array kNames = {"exp",  "log",  "sin",  "cos",     "tan",      "asin",  "acos",
                                 "atan", "sinh", "cosh", "tanh",    "asinh",    "acosh", "atanh",
                                 "sign", "frac", "Xor",  "Implies", "Heaviside"};
  for (const std::string_view known : kNames)
    if (known == name) return true;
  return false;
}

}  // namespace

bool is_srepr_constructor(std::string_view name) {
  return name == "Integer" || name == "Rational" || name == "Float" || name == "Symbol";
}

Expr build_call(std::string_view name, CallArguments arguments, bool in_srepr) {
  if (name == "Symbol") return build_symbol(arguments);
  if (name == "Float" && !arguments.texts.empty()) return build_float(arguments);
  if (name == "Integer" || name == "Rational") return build_number(name, arguments);
  if (!arguments.texts.empty()) fail(fmt::format("{} takes no quoted text", printable(name, 40)));
  for (const auto& [keyword, value] : arguments.keywords)
    if (keyword != "evaluate")
      fail(fmt::format("{} takes no argument '{}'", printable(name, 40), printable(keyword, 40)));
  const std::string_view class_name = class_of_python_name(name);
  Expr result = apply(class_name, arguments.args);
  const bool is_unknown = result.kind() == Kind::kFunction && result.name() == class_name;
  if (is_unknown && !in_srepr && !is_sympy_function(class_name))
    return undefined_function(class_name, std::move(arguments.args));
  return result;
}

std::optional<Expr> named_constant(std::string_view name) {
  if (name == "oo") return infinity();
  if (name == "int_oo") return int_infinity();
  if (name == "zoo") return Expr(Number::of_kind(NumberKind::kComplexInfinity));
  if (name == "nan") return Expr(Number::of_kind(NumberKind::kNaN));
  if (name == "True" || name == "true" || name == "BooleanTrue") return boolean(true);
  if (name == "False" || name == "false" || name == "BooleanFalse") return boolean(false);
  return std::nullopt;
}

std::string unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

}  // namespace flambeau::symbolic
