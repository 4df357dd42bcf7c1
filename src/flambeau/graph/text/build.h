// Makes graphs of the lossless text that has been taken apart.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "flambeau/graph/program.h"
#include "flambeau/graph/text/argument.h"
#include "flambeau/graph/text/tree.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::graph {

// What the graphs of a program refer to by name.
struct TextTables {
  const ExportedProgram::Style& style;
  std::unordered_map<std::string, std::shared_ptr<const SymExpr>> exprs;
  std::unordered_map<uint64_t, std::string> texts;
  SchemaTable schemas;

  // "s0", "2*s0 + 1", "7".
  SymInt sym_int(const std::string& text, TextPlace place);
  // One that the table has not is read: its symbols are those of the table.
  std::shared_ptr<const SymExpr> expr(const std::string& name, TextPlace place);
  Meta meta(const ValueText& text);
  const std::string& metadata(const MetadataText& text) const;

 private:
  std::vector<SymInt> sym_ints(std::string_view list, TextPlace place);
  TensorMeta tensor(const TextString& type, const ValueText& text);
};

// Takes the text's parts.
void build_graph(GraphText& text, TextTables& tables, Graph& to);

}  // namespace flambeau::graph
