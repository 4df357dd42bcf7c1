// What a node may do besides giving its results.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/graph/graph.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::passes {

struct Effects {
  // It writes to an argument, checks something, or nobody here knows what it does.
  bool acts = true;
  // It may write to its arguments; of an operator, to those that its schema says.
  bool writes = true;
  // Called twice it may give different results.
  bool is_random = false;
  // The operator it calls; null for functions of numbers, subgraphs and what is unknown.
  const ops::Operator* op = nullptr;

  bool is_pure() const { return !acts && !is_random; }
};
Effects effects_of(const graph::Node& node, const ops::Library& library);

// Which values of a graph something may write to, directly or through a view, at any time: what is read from
// them is not the same everywhere. Inside of subgraphs it looks at what is written from there, too.
class WrittenValues {
 public:
  WrittenValues(const graph::Graph& graph, const ops::Library& library);
  bool contains(const graph::Value& value) const { return written_.contains(root(&value)); }
  // One of the node's arguments or results.
  bool touches(const graph::Node& node) const;

 private:
  const graph::Value* root(const graph::Value* value) const;
  void join(const graph::Value& a, const graph::Value& b);
  void add(const graph::Node& node, const ops::Library& library);

  // Values that may share memory have one root.
  mutable std::unordered_map<const graph::Value*, const graph::Value*> above_;
  std::unordered_set<const graph::Value*> written_;
};

// Beside the graph's inputs: those that must be copied before a run that may still fail.
std::vector<bool> written_inputs(const graph::Graph& graph, const ops::Library& library);

}  // namespace flambeau::passes
