// Old programs made new: the JSON of an exported program of major 1 to 7 rewritten in the form of 8.20, so
// that one reader reads what every PyTorch since 2.1 wrote.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive/json/json.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::pt2 {

struct Upgrade {
  SchemaVersion from;
  // What was converted, a sentence each, oldest change first; empty for a program of major 8.
  std::vector<std::string> notes;
  // Tensors that PyTorch 2.1 kept inside the graph. They are inputs of the upgraded graph, and constants of
  // these names.
  std::vector<std::pair<std::string, Tensor>> constants;
};

// Turns Python's text of a sympy expression ("2*s0") into sympy's constructor form.
using ExprToSrepr = std::function<std::string(std::string_view)>;

// Needs no symbolic engine: a lone symbol becomes "Symbol('s0', positive=True, integer=True)", and in any
// other expression the symbols become that and the operators stay, which sympy reads as well.
std::string symbols_to_srepr(std::string_view expression);

// The version a program states: a number (1, 2) or {"major", "minor"}. Throws Error(kCorrupt).
SchemaVersion stated_version(const json::Value& program);

// Rewrites the program in place. One of major 8, and one that states 0.0, which PyTorch takes for its own
// version, is left as it is. Throws Error(kUnsupported) for a newer major and for custom objects of majors
// 1 and 2; Error(kCorrupt), located at the value, for what is not as its version has it. The program is of
// no use after an error.
Upgrade upgrade_program(json::Value& program, const ExprToSrepr& expr_to_srepr = symbols_to_srepr);

}  // namespace flambeau::pt2
