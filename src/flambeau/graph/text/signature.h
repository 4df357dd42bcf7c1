// The section "Graph signature" of the text form: what each input and output of the program is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/graph/text/literal.h"
#include "flambeau/graph/text/scanner.h"
#include "flambeau/graph/text/tree.h"

namespace flambeau::graph {

struct SpecText {
  bool is_input = true;
  std::optional<std::string> name;
  TextPlace place;
  std::string_view kind;
  TextPlace kind_place;
  std::optional<std::string> target;
  std::optional<bool> persistent;
  std::optional<Literal> constant;  // of constant inputs
  std::optional<Literal> literal;
  KindSpec as;
  std::optional<TextString> json;
  std::optional<TextString> extras;
};

// The lines of the section, which are indented.
std::vector<SpecText> parse_signature(TextScanner& scanner);
// They join the program once its graph is there.
void add_signature(const std::vector<SpecText>& specs, ExportedProgram& program);

}  // namespace flambeau::graph
