// Reads graphs: arguments, nodes, value tables, subgraphs.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "flambeau/archive/json/document.h"
#include "flambeau/archive/json/json.h"
#include "flambeau/formats/pt2/meta_json.h"
#include "flambeau/graph/program.h"

namespace flambeau::pt2 {

// How often an optional member was there. A file of one version has it everywhere or nowhere.
struct Presence {
  bool seen = false;
  bool missed = false;
  void note(bool is_there) { (is_there ? seen : missed) = true; }
  bool is_absent() const { return missed && !seen; }
};

class GraphReader {
 public:
  // Takes the JSON apart. Names nobody defines become values without a producer, and a value given twice
  // keeps its first producer: verify() reports both. Throws Error(kCorrupt, kUnsupported), located at the
  // node or value.
  void graph(json::Value& value, graph::Graph& to);
  // The same with the two parts that grow with the graph read one by one, and empty in the value.
  struct Large {
    json::Document::Element nodes;
    json::Document::Element tensor_values;
  };
  void graph(json::Value& value, const Large* large, graph::Graph& to);
  graph::Argument argument(json::Value& value, graph::Graph& to);
  std::vector<graph::Argument> arguments(json::Value& value, graph::Graph& to);
  // {"name": ...}, as tensors and tokens are referred to.
  graph::ValueRef named(json::Value& value, graph::Graph& to, std::string_view what);
  graph::CustomObjArgument custom_obj(json::Value& value, graph::Graph& to);

  MetaReader& meta() { return meta_; }
  double real(const json::Value& value);
  // For objects that have no place for members that this version does not know: they are lost, and noted.
  void note_lost(std::string_view what, const graph::Extras& members);
  // "a tensor argument has a member 'x'", each once.
  const std::set<std::string>& lost() const { return lost_; }
  // Sets what the file left out.
  void describe_style(graph::ExportedProgram::Style& style) const;

 private:
  void node(json::Value& value, graph::Graph& to);
  void values(json::Value& table, graph::ValueKind kind, graph::Graph& to);
  void value(const std::string& name, json::Value& description, graph::ValueKind kind, graph::Graph& to);
  template <typename Number>
  graph::SymArgument<Number> sym(json::Value& value, graph::Graph& to);
  graph::ValueRef optional_tensor(json::Value& value, graph::Graph& to);
  graph::GraphArgument graph_argument(json::Value& value);
  std::complex<double> complex(json::Value& value);
  template <typename T>
  T data(json::Value& value, graph::Graph& to);

  MetaReader meta_;
  Presence argument_kind_, node_name_, hop_single_return_, custom_obj_values_, sym_float_values_;
  bool has_bare_infinity_ = false;
  std::set<std::string> lost_;
};

}  // namespace flambeau::pt2
