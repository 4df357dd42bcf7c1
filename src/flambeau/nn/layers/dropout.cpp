#include "flambeau/nn/layers/dropout.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/activation.h"
#include "flambeau/nn/functional/shape.h"

namespace flambeau::nn {
namespace {

double checked(double p) {
  if (p >= 0 && p <= 1) return p;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a dropout probability is between 0 and 1, not {}", p));
}

// PyTorch gives these a batch where there is none.
Tensor drop_features(const Tensor& input, int64_t batched_dim, double p, bool training, bool inplace) {
  if (dim(input) == batched_dim)
    return inplace ? feature_dropout_(input, p, training) : feature_dropout(input, p, training);
  if (!inplace) return squeeze(feature_dropout(unsqueeze(input, 0), p, training), 0);
  const Tensor batch = call(std::source_location::current(), "aten::unsqueeze_", {input, 0});
  return call(std::source_location::current(), "aten::squeeze_.dim",
              {feature_dropout_(batch, p, training), 0});
}

}  // namespace

Dropout::Dropout(double p, bool inplace) : p_(checked(p)), inplace_(inplace) {}
Tensor Dropout::forward(const Tensor& input) {
  return inplace_ ? dropout_(input, p_, is_training()) : dropout(input, p_, is_training());
}
Dropout1d::Dropout1d(double p, bool inplace) : p_(checked(p)), inplace_(inplace) {}
Tensor Dropout1d::forward(const Tensor& input) {
  return drop_features(input, 3, p_, is_training(), inplace_);
}
Dropout2d::Dropout2d(double p, bool inplace) : p_(checked(p)), inplace_(inplace) {}
Tensor Dropout2d::forward(const Tensor& input) {
  return inplace_ ? feature_dropout_(input, p_, is_training()) : feature_dropout(input, p_, is_training());
}
Dropout3d::Dropout3d(double p, bool inplace) : p_(checked(p)), inplace_(inplace) {}
Tensor Dropout3d::forward(const Tensor& input) {
  return drop_features(input, 5, p_, is_training(), inplace_);
}
AlphaDropout::AlphaDropout(double p, bool inplace) : p_(checked(p)), inplace_(inplace) {}
Tensor AlphaDropout::forward(const Tensor& input) {
  return inplace_ ? alpha_dropout_(input, p_, is_training()) : alpha_dropout(input, p_, is_training());
}
FeatureAlphaDropout::FeatureAlphaDropout(double p, bool inplace) : p_(checked(p)), inplace_(inplace) {}
Tensor FeatureAlphaDropout::forward(const Tensor& input) {
  return inplace_ ? feature_alpha_dropout_(input, p_, is_training())
                  : feature_alpha_dropout(input, p_, is_training());
}

}  // namespace flambeau::nn
