#include "flambeau/nn/layers/embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/create.h"
#include "flambeau/nn/functional/embedding.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {
namespace {

std::optional<int64_t> checked_padding(std::optional<int64_t> index, int64_t rows) {
  if (!index) return {};
  if (*index < -rows || *index >= rows) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("padding_idx is {}, the table has {} rows", *index, rows));
  }
  return *index < 0 ? *index + rows : *index;
}

void fill_table(const Tensor& table, std::optional<int64_t> padding_idx) {
  init::normal_(table);
  if (!padding_idx) return;
  const size_t row = table.byte_count() / static_cast<size_t>(table.sizes()[0]);
  std::memset(table.mutable_data() + static_cast<size_t>(*padding_idx) * row, 0, row);
}

}  // namespace

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim, std::optional<int64_t> padding_idx)
    : weight(init::empty({num_embeddings, embedding_dim})),
      padding_idx_(checked_padding(padding_idx, num_embeddings)) {
  add_parameter("weight", weight);
  fill_table(weight, padding_idx_);
}

Tensor Embedding::forward(const Tensor& input) { return embedding(input, weight, padding_idx_); }

EmbeddingBag::EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, EmbeddingBagOptions options)
    : weight(init::empty({num_embeddings, embedding_dim})), options_(std::move(options)) {
  options_.padding_idx = checked_padding(options_.padding_idx, num_embeddings);
  static constexpr std::string_view kModes[] = {"sum", "mean", "max"};
  const auto* const found = std::ranges::find(kModes, options_.mode);
  if (found == std::end(kModes)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an EmbeddingBag has no mode '{}'", printable(options_.mode)),
                "take sum, mean or max");
  }
  mode_ = found - std::begin(kModes);
  add_parameter("weight", weight);
  fill_table(weight, options_.padding_idx);
}

Tensor EmbeddingBag::forward(const Tensor& input, const std::optional<Tensor>& offsets,
                             const std::optional<Tensor>& per_sample_weights) {
  const bool is_matrix = dim(input) == 2;
  if (is_matrix == offsets.has_value()) {
    throw Error(ErrorCode::kInvalidArgument,
                is_matrix ? "an EmbeddingBag takes no offsets with bags that are the rows of a matrix"
                          : "an EmbeddingBag needs the offsets of bags that stand one after the other");
  }
  Tensor indices = input, starts = or_none(offsets), weights = or_none(per_sample_weights);
  if (weights.defined() && !(sizes(input) == sizes(weights))) {
    throw Error(ErrorCode::kInvalidArgument,
                "an EmbeddingBag takes one weight for each index: per_sample_weights have other sizes");
  }
  if (is_matrix) {
    starts = arange(0, numel(input), size(input, 1), input.dtype());
    indices = reshape(input, {-1});
    if (weights.defined()) weights = reshape(weights, {-1});
  }
  return embedding_bag(indices, weight, starts, false, mode_, false, weights, options_.include_last_offset,
                       options_.padding_idx);
}

}  // namespace flambeau::nn
