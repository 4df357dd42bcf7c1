// Attention.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor scaled_dot_product_attention(Input query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0.0,
                                    bool is_causal = false, std::optional<double> scale = {},
                                    bool enable_gqa = false);

}  // namespace flambeau::nn
