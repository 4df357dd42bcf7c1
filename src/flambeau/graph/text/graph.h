// Prints one graph and the graphs inside it: what both text forms have in common.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/graph/text/lines.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::graph {

// Names for the expressions of a program: the plain form, and in the lossless form a suffix where two
// expressions look the same, or like a number.
class ExprNames {
 public:
  explicit ExprNames(bool lossless) : lossless_(lossless) {}
  const std::string& name(const SymExpr& expr);
  struct Entry {
    std::string name;
    const SymExpr* expr;
  };
  // In order of appearance.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  bool lossless_;
  std::unordered_map<const SymExpr*, std::string> by_address_;
  std::unordered_map<std::string, std::string> by_content_;  // lossless only
  std::unordered_map<std::string, size_t> used_;
  size_t odd_count_ = 0;
  std::vector<Entry> entries_;
};

// Long texts of metadata, each written once behind the graph.
class LongTexts {
 public:
  // "@3", or the text itself in quotes when it is short.
  std::string reference(const std::string& text);
  const std::vector<const std::string*>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string_view, size_t> numbers_;
  std::vector<const std::string*> texts_;
};

// What printing the graphs of a program shares.
struct TextContext {
  const ExportedProgram& program;
  TextOptions options;
  ExprNames exprs;
  LongTexts texts;
  std::string out;
  SchemaTable schemas;
};

// Appends "class NAME(torch.nn.Module):" and what belongs to it, each line indented by four more than `depth`
// times four spaces.
void print_graph(TextContext& context, const Graph& graph, std::string_view class_name, size_t depth);

}  // namespace flambeau::graph
