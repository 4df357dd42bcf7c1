// An exported program as the text of a method that computes the same, for modules of TorchScript: each node a
// call, numbers made of sizes as ints, trees as tuples, lists and dicts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/graph/interface.h"
#include "flambeau/graph/program.h"

namespace flambeau {

// The type of a leaf by how the program says it; empty for what is none.
std::string_view leaf_type(graph::ArgumentKind kind);

class ProgramText {
 public:
  // `attributes`: how the text says each parameter, buffer and constant: "self.encoder.weight".
  ProgramText(const graph::ExportedProgram& program, std::unordered_map<std::string, std::string> attributes);

  // "def forward(self, x: Tensor) -> Tensor:\n  ...". Throws Error(kUnsupported) that names the node for what
  // TorchScript cannot say.
  std::string method();
  // What stands beside it: classes of named tuples.
  const std::string& classes() const { return classes_; }

 private:
  using Graph = graph::Graph;

  void line(const std::string& text);
  std::string fresh(std::string_view base);
  std::string name_of(const graph::Value& value);
  std::string text_of(const graph::Argument& argument);
  template <typename Number>
  std::string number_text(const graph::SymArgument<Number>& number);

  void add_inputs();
  std::string type_of_input(const TreeSpec& spec, size_t& leaf) const;
  // How the leaves of an argument are reached from it. `is_any`: of a container that holds several types.
  void reach_input(const TreeSpec& spec, std::string reached, size_t& leaf, bool is_any);
  void leaf_input(size_t leaf, const std::string& reached);
  void add_outputs();
  std::string output_text(const TreeSpec& spec, size_t& leaf, std::string& type);

  void add_nodes(const Graph& graph);
  void add_node(const graph::Node& node);
  void add_call(const graph::Node& node, const OperatorName& name);
  bool add_known_call(const graph::Node& node, const std::string& name);
  void add_function(const graph::Node& node);
  void add_higher_order(const graph::Node& node);
  void add_cond(const graph::Node& node);
  void add_loop(const graph::Node& node);
  void add_part(const graph::Node& node, size_t at);
  void bind(const Graph& graph, const std::vector<std::string>& inputs);
  std::vector<std::string> results_of(const graph::Node& node);
  std::string arguments_text(const graph::Node& node, const OperatorName& name);
  void give(const graph::Node& node, const std::string& value);
  [[noreturn]] void fail(const graph::Node& node, const std::string& why) const;

  const graph::ExportedProgram& program_;
  std::unordered_map<std::string, std::string> attributes_;
  graph::Interface interface_;
  std::string head_;
  std::string body_;
  std::string classes_;
  int depth_ = 1;
  std::unordered_map<const graph::Value*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::vector<const graph::InputSpec*> user_inputs_;
  std::vector<const graph::OutputSpec*> user_outputs_;
};

// Whether Python and TorchScript take it for the name of a variable or an attribute.
bool is_plain_name(std::string_view name);
// As literals: 'a\nb', 1.5, [a, b].
std::string quoted_text(std::string_view text);
std::string float_literal(double number);
std::string list_literal(const std::vector<std::string>& items, std::string_view element);

}  // namespace flambeau
