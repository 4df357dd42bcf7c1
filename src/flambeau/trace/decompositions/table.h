// Which operators are taken apart, and into what. A decomposition calls other operators through its context;
// what those become in turn is not its concern.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/ops/context.h"
#include "flambeau/trace/decompositions/arguments.h"

namespace flambeau::trace {

// Arguments fit the schema, all of them in its order. No results: it does not take this call apart.
using Decomposition = std::function<std::vector<Value>(ops::Context& context, const Arguments& arguments)>;

class DecompositionTable {
 public:
  // Every decomposition of PyTorch's core ATen table.
  static DecompositionTable core();

  // Of an operator that is nothing but others to PyTorch (composite implicit): taken apart before views and
  // writes are resolved, which its parts may be.
  void composite(std::string_view name, Decomposition decomposition) {
    composites_[std::string(name)] = std::move(decomposition);
  }
  // Of an operator without side effects, taken apart afterwards.
  void functional(std::string_view name, Decomposition decomposition) {
    functionals_[std::string(name)] = std::move(decomposition);
  }
  // The operator stays as it is.
  void erase(const std::string& name);

  // An operator that is nothing but others to PyTorch and has no entry here: the library's own way to compute
  // it does, where all sizes are numbers.
  bool is_left_to_library(std::string_view name) const;

  // Null when there is none.
  const Decomposition* find_composite(const std::string& name) const;
  const Decomposition* find_functional(const std::string& name) const;

 private:
  using Map = std::unordered_map<std::string, Decomposition>;
  Map composites_;
  Map functionals_;
  std::unordered_set<std::string> kept_;
};

// The families, one a file.
void add_activations(DecompositionTable& table);
void add_arithmetic(DecompositionTable& table);
void add_attention(DecompositionTable& table);
void add_copies(DecompositionTable& table);
void add_einsum(DecompositionTable& table);
void add_factories(DecompositionTable& table);
void add_indexing(DecompositionTable& table);
void add_layers(DecompositionTable& table);
void add_losses(DecompositionTable& table);
void add_norms(DecompositionTable& table);
void add_padding(DecompositionTable& table);
void add_pooling(DecompositionTable& table);
void add_products(DecompositionTable& table);
void add_recurrent(DecompositionTable& table);
void add_reductions(DecompositionTable& table);
void add_upsampling(DecompositionTable& table);
void add_views(DecompositionTable& table);

}  // namespace flambeau::trace
