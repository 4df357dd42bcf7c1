// Tables of vectors.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor embedding(Input indices, const Tensor& weight, std::optional<int64_t> padding_idx = {},
                 bool scale_grad_by_freq = false, bool sparse = false);
// Rows of a table, summed up (mode 0), averaged (1) or the largest of each column (2).
Tensor embedding_bag(Input input, const Tensor& weight, const Tensor& offsets,
                     bool scale_grad_by_freq = false, int64_t mode = 1, bool sparse = false,
                     const Tensor& per_sample_weights = {}, bool include_last_offset = false,
                     std::optional<int64_t> padding_idx = {});

}  // namespace flambeau::nn
