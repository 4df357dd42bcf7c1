// What the rows of defects are made of.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "flambeau/graph/verify/test_programs.h"

namespace flambeau::graph {

// Reaches into a program by names, so that rows are short.
struct Editor {
  ExportedProgram& program;

  Graph& graph() const { return program.graph(); }
  Value& value(const std::string& name) const { return graph().value(name); }
  Node& node(std::string_view name) const { return node_in(graph(), name); }
  static Node& node_in(Graph& graph, std::string_view name) {
    for (Node& node : graph.nodes()) {
      if (node.label() == name) return node;
    }
    throw std::out_of_range("no node " + std::string(name));
  }
  // A graph given to a node.
  Graph& inner(std::string_view name, size_t index) const {
    return *const_cast<Argument&>(node(name).inputs()[index].argument).get<ArgumentKind::kGraph>().graph;
  }
  void set(std::string_view name, size_t index, Argument argument) const {
    node(name).set_input(index, std::move(argument));
  }
  void meta(const std::string& name, const std::function<void(TensorMeta&)>& edit) const {
    edit(*value(name).tensor());
  }
  InputSpec& input(size_t i) const { return program.signature.inputs.at(i); }
  OutputSpec& output(size_t i) const { return program.signature.outputs.at(i); }
  ModuleCallSignature& root() const { return *program.module_call_graph[0].signature; }
  // All outputs of the graph in another order.
  void reorder_outputs(const std::vector<size_t>& order) const {
    std::vector<Argument> old = graph().take_outputs();
    for (const size_t i : order) graph().add_output(std::move(old[i]));
  }
};

struct Defect {
  const char* name;
  std::function<void(const Editor&)> edit;
  const char* rule;
  const char* where;
  const char* message;
};

inline std::vector<int64_t> dims(std::initializer_list<int64_t> sizes) { return sizes; }

// Of the graph: its values, their descriptions, its nodes.
std::span<const Defect> graph_defects();

}  // namespace flambeau::graph
