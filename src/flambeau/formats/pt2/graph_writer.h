// Writes graphs as PyTorch does, to the byte.
#pragma once

#include <vector>

#include "flambeau/archive/json/writer.h"
#include "flambeau/formats/pt2/meta_json.h"
#include "flambeau/graph/program.h"

namespace flambeau::pt2 {

class GraphWriter {
 public:
  GraphWriter(json::Writer& out, const graph::ExportedProgram::Style& style)
      : out_(out), style_(style), meta_(out, style) {}

  void graph(const graph::Graph& graph);
  void argument(const graph::Argument& argument);
  void arguments(const std::vector<graph::Argument>& list);
  // {"name": ...}.
  void named(const graph::ValueRef& ref);
  void custom_obj(const graph::CustomObjArgument& argument);
  void string_map(const graph::StringMap& map);
  void string_list(const std::vector<std::string>& list);
  MetaWriter& meta() { return meta_; }

 private:
  void node(const graph::Node& node);
  void values(std::string_view key, graph::ValueKind kind, const graph::Graph& graph);
  void optional_tensor(const graph::ValueRef& ref);
  template <typename Number>
  void sym(const graph::SymArgument<Number>& argument);
  template <typename T>
  void data(const T& data);

  json::Writer& out_;
  const graph::ExportedProgram::Style& style_;
  MetaWriter meta_;
};

}  // namespace flambeau::pt2
