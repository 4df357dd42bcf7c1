// Tables of vectors: torch.nn.modules.sparse.
#pragma once

#include <optional>
#include <string>

#include "flambeau/nn/layer.h"

namespace flambeau::nn {

class Embedding : public Layer<Embedding> {
 public:
  // The row of `padding_idx` (counted from the end when negative) is zero.
  Embedding(int64_t num_embeddings, int64_t embedding_dim, std::optional<int64_t> padding_idx = {});
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.sparse.Embedding"; }

  Tensor weight;  // [rows, size]

 private:
  std::optional<int64_t> padding_idx_;
};

struct EmbeddingBagOptions {
  std::string mode = "mean";  // or "sum", "max"
  bool include_last_offset = false;
  std::optional<int64_t> padding_idx = {};
};

class EmbeddingBag : public Layer<EmbeddingBag> {
 public:
  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, EmbeddingBagOptions options = {});
  static constexpr std::array kArguments{"input", "offsets", "per_sample_weights"};
  // [bags, size] without offsets, or all bags one after the other and where each begins.
  Tensor forward(const Tensor& input, const std::optional<Tensor>& offsets = {},
                 const std::optional<Tensor>& per_sample_weights = {});
  std::string class_name() const override { return "torch.nn.modules.sparse.EmbeddingBag"; }

  Tensor weight;

 private:
  EmbeddingBagOptions options_;
  int64_t mode_;
};

}  // namespace flambeau::nn
