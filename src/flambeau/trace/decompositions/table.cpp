#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {

DecompositionTable DecompositionTable::core() {
  DecompositionTable table;
  add_activations(table);
  add_arithmetic(table);
  add_attention(table);
  add_copies(table);
  add_factories(table);
  add_indexing(table);
  add_layers(table);
  add_losses(table);
  add_norms(table);
  add_padding(table);
  add_pooling(table);
  add_products(table);
  add_recurrent(table);
  add_reductions(table);
  add_upsampling(table);
  add_views(table);
  return table;
}

void DecompositionTable::erase(const std::string& name) {
  composites_.erase(name);
  functionals_.erase(name);
}

const Decomposition* DecompositionTable::find_composite(const std::string& name) const {
  const auto found = composites_.find(name);
  return found == composites_.end() ? nullptr : &found->second;
}

const Decomposition* DecompositionTable::find_functional(const std::string& name) const {
  const auto found = functionals_.find(name);
  return found == functionals_.end() ? nullptr : &found->second;
}

}  // namespace flambeau::trace
