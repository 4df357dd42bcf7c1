// Reads expressions and values, one case a line, and prints what Flambeau makes of them: how the interop
// tests compare it with sympy. A line holds fields between tabs:
//   srepr, str, and for each set of values: name=value;name=value
// and the answer is a line of: from srepr: srepr, str; from str: srepr, str; then one value for each set.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace {

using namespace flambeau;            // NOLINT: a test program
using namespace flambeau::symbolic;  // NOLINT

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string describe(const Number& number) {
  switch (number.kind()) {
    case NumberKind::kInteger:
      return fmt::format("int {}", number.numerator());
    case NumberKind::kRational:
      return fmt::format("rational {}/{}", number.numerator(), number.denominator());
    case NumberKind::kFloat:
      return fmt::format("float {:.17g}", number.to_double());
    case NumberKind::kBoolean:
      return number.truth() ? "bool True" : "bool False";
    default:
      return fmt::format("special {}", number.to_double());
  }
}

Bindings read_bindings(const std::string& text) {
  Bindings bindings;
  for (const std::string& part : split(text, ';')) {
    const size_t mark = part.find('=');
    if (mark == std::string::npos) continue;
    bindings[part.substr(0, mark)] = parse(part.substr(mark + 1)).number();
  }
  return bindings;
}

template <typename Body>
std::string guarded(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    return fmt::format("error {}: {}", error_code_name(error.code()), error.what());
  }
}

std::string answer(const std::string& line) {
  const std::vector<std::string> fields = split(line, '\t');
  std::map<std::string, Expr, std::less<>> symbols;
  std::string result = guarded([&] {
    const Expr expr = parse(fields[0]);
    for (const Expr& found : free_symbols(expr)) symbols.emplace(found.name(), found);
    return to_srepr(expr) + "\t" + to_string(expr);
  });
  if (fields.size() > 1 && !fields[1].empty()) {
    result += "\t" + guarded([&] {
                const Expr expr = parse(fields[1], [&](std::string_view name) -> std::optional<Expr> {
                  const auto found = symbols.find(name);
                  return found == symbols.end() ? std::nullopt : std::optional(found->second);
                });
                return to_srepr(expr) + "\t" + to_string(expr);
              });
  }
  for (size_t i = 2; i < fields.size(); ++i)
    result += "\t" + guarded([&] { return describe(evaluate(parse(fields[0]), read_bindings(fields[i]))); });
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file;
  if (argc == 2) file.open(argv[1]);
  std::istream& input = argc == 2 ? file : std::cin;
  if (!input) {
    std::cerr << "usage: symbolic_eval [FILE]\n";
    return 2;
  }
  std::string line;
  while (std::getline(input, line)) std::cout << answer(line) << '\n';
  return 0;
}
