// Makes arguments of literals: as the kind that is said, or else as the one that the text shows.
#pragma once

#include <functional>
#include <optional>

#include "flambeau/graph/graph.h"
#include "flambeau/graph/text/literal.h"

namespace flambeau::graph {

struct ArgumentMaker {
  Graph& graph;
  // Takes the subgraph of that name; nothing when it is no subgraph's name. May be empty.
  std::function<std::optional<GraphArgument>(const Literal&)> subgraph;

  Argument make(const Literal& literal, const KindSpec& spec) const;

 private:
  ArgumentKind infer(const Literal& literal) const;
  ValueRef ref(const Literal& literal) const;
  template <typename Number>
  SymArgument<Number> sym(const Literal& literal) const;
  static DeviceSpec device(const Literal& literal, const KindSpec& spec);
  CustomObjArgument object(const Literal& literal, const KindSpec& spec) const;
  std::unique_ptr<ArgumentDict> dict(const Literal& literal, const KindSpec& spec) const;
  template <typename T>
  T data(const Literal& literal, const KindSpec& spec) const;
};

}  // namespace flambeau::graph
