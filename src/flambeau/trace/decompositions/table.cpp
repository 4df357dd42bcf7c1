#include "flambeau/trace/decompositions/table.h"

#include <algorithm>

namespace flambeau::trace {
namespace {

constexpr std::string_view kLeftToLibrary[] = {
    "aten::atleast_1d",
    "aten::atleast_1d.Sequence",
    "aten::atleast_2d",
    "aten::atleast_2d.Sequence",
    "aten::atleast_3d",
    "aten::atleast_3d.Sequence",
    "aten::cartesian_prod",
    "aten::chain_matmul",
    "aten::column_stack",
    "aten::cross",
    "aten::diag",
    "aten::diagflat",
    "aten::diff",
    "aten::dsplit.array",
    "aten::dsplit.int",
    "aten::dstack",
    "aten::einsum",
    "aten::fix",
    "aten::fliplr",
    "aten::flipud",
    "aten::float_power.Scalar",
    "aten::float_power.Tensor_Scalar",
    "aten::float_power.Tensor_Tensor",
    "aten::frobenius_norm.dim",
    "aten::ger",
    "aten::hsplit.array",
    "aten::hsplit.int",
    "aten::inner",
    "aten::isfinite",
    "aten::isreal",
    "aten::kron",
    "aten::linalg_diagonal",
    "aten::linalg_matmul",
    "aten::linalg_multi_dot",
    "aten::linalg_norm",
    "aten::linalg_vecdot",
    "aten::msort",
    "aten::nanmean",
    "aten::row_stack",
    "aten::special_log_softmax",
    "aten::special_logsumexp",
    "aten::special_softmax",
    "aten::tensor_split.indices",
    "aten::tensordot",
    "aten::unsafe_chunk",
    "aten::vsplit.array",
    "aten::vsplit.int",
};
static_assert(std::ranges::is_sorted(kLeftToLibrary));

}  // namespace

DecompositionTable DecompositionTable::core() {
  DecompositionTable table;
  add_activations(table);
  add_arithmetic(table);
  add_attention(table);
  add_copies(table);
  add_einsum(table);
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
  kept_.insert(name);
}

bool DecompositionTable::is_left_to_library(std::string_view name) const {
  return std::ranges::binary_search(kLeftToLibrary, name) && !kept_.contains(std::string(name));
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
