#include "flambeau/nn/layers/linear.h"

#include <cmath>

#include "flambeau/nn/functional/matrix.h"
#include "flambeau/nn/init.h"

namespace flambeau::nn {

Linear::Linear(int64_t in_features, int64_t out_features, bool with_bias)
    : weight(init::empty({out_features, in_features})) {
  if (with_bias) bias = init::empty({out_features});
  add_parameter("weight", weight);
  add_parameter("bias", bias);
  init::reset_affine(weight, bias);
}

Tensor Linear::forward(const Tensor& input) { return linear(input, weight, bias); }

Bilinear::Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, bool with_bias)
    : weight(init::empty({out_features, in1_features, in2_features})) {
  if (with_bias) bias = init::empty({out_features});
  add_parameter("weight", weight);
  add_parameter("bias", bias);
  const double bound = 1 / std::sqrt(static_cast<double>(in1_features));
  init::uniform_(weight, -bound, bound);
  if (with_bias) init::uniform_(bias, -bound, bound);
}

Tensor Bilinear::forward(const Tensor& input1, const Tensor& input2) {
  return bilinear(input1, input2, weight, bias);
}

}  // namespace flambeau::nn
