#include "flambeau/nn/functional/attention.h"

namespace flambeau::nn {

Tensor scaled_dot_product_attention(Input query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  return call(query, "aten::scaled_dot_product_attention",
              {query.tensor, key, value, attn_mask, dropout_p, is_causal},
              {{"scale", scale}, {"enable_gqa", enable_gqa}});
}

}  // namespace flambeau::nn
