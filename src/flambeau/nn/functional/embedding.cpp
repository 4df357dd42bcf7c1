#include "flambeau/nn/functional/embedding.h"

namespace flambeau::nn {

Tensor embedding(Input indices, const Tensor& weight, std::optional<int64_t> padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  return call(indices, "aten::embedding",
              {weight, indices.tensor, padding_idx.value_or(-1), scale_grad_by_freq, sparse});
}

Tensor embedding_bag(Input input, const Tensor& weight, const Tensor& offsets, bool scale_grad_by_freq,
                     int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
                     std::optional<int64_t> padding_idx) {
  const std::vector<Value> results =
      call_values(input.where, "aten::embedding_bag.padding_idx",
                  {weight, input.tensor, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                   include_last_offset, padding_idx});
  return results.at(0).tensor();
}

}  // namespace flambeau::nn
