#include "flambeau/nn/functional/loss.h"

#include <fmt/format.h>

#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/shape.h"

namespace flambeau::nn {

Tensor cross_entropy(Input input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                     Reduction reduction, double label_smoothing) {
  return call(input, "aten::cross_entropy_loss",
              {input.tensor, target, weight, static_cast<int64_t>(reduction), ignore_index, label_smoothing});
}
Tensor nll_loss(Input input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                Reduction reduction) {
  return call(input, "aten::nll_loss_nd",
              {input.tensor, target, weight, static_cast<int64_t>(reduction), ignore_index});
}
Tensor binary_cross_entropy(Input input, const Tensor& target, const Tensor& weight, Reduction reduction) {
  return call(input, "aten::binary_cross_entropy",
              {input.tensor, target, weight, static_cast<int64_t>(reduction)});
}
Tensor binary_cross_entropy_with_logits(Input input, const Tensor& target, const Tensor& weight,
                                        Reduction reduction, const Tensor& pos_weight) {
  if (!(sizes(target) == sizes(input.tensor))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the target has the sizes of {}, the input those of {}; they must be the same",
                            target.summary(), input.tensor.summary()));
  }
  return call(input, "aten::binary_cross_entropy_with_logits",
              {input.tensor, target, weight, pos_weight, static_cast<int64_t>(reduction)});
}
Tensor kl_div(Input input, const Tensor& target, Reduction reduction, bool log_target) {
  return call(input, "aten::kl_div", {input.tensor, target, static_cast<int64_t>(reduction)},
              {{"log_target", log_target}});
}
Tensor margin_ranking_loss(Input input1, const Tensor& input2, const Tensor& target, double margin,
                           Reduction reduction) {
  return call(input1, "aten::margin_ranking_loss",
              {input1.tensor, input2, target, margin, static_cast<int64_t>(reduction)});
}
Tensor soft_margin_loss(Input input, const Tensor& target, Reduction reduction) {
  return call(input, "aten::soft_margin_loss", {input.tensor, target, static_cast<int64_t>(reduction)});
}
Tensor cosine_similarity(Input x1, const Tensor& x2, int64_t dim, double eps) {
  return call(x1, "aten::cosine_similarity", {x1.tensor, x2, dim, eps});
}
Tensor pairwise_distance(Input x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return call(x1, "aten::pairwise_distance", {x1.tensor, x2, p, eps, keepdim});
}

namespace {

// PyTorch broadcasts these by hand.
std::pair<Tensor, Tensor> broadcast(const Input& input, const Tensor& target) {
  TensorList both = call<TensorList>(input, "aten::broadcast_tensors", {TensorList{input.tensor, target}});
  return {std::move(both.at(0)), std::move(both.at(1))};
}

}  // namespace

Tensor mse_loss(Input input, const Tensor& target, Reduction reduction) {
  const auto [a, b] = broadcast(input, target);
  return call(input, "aten::mse_loss", {a, b, static_cast<int64_t>(reduction)});
}
Tensor l1_loss(Input input, const Tensor& target, Reduction reduction) {
  const auto [a, b] = broadcast(input, target);
  return call(input, "aten::l1_loss", {a, b, static_cast<int64_t>(reduction)});
}
Tensor smooth_l1_loss(Input input, const Tensor& target, Reduction reduction, double beta) {
  const auto [a, b] = broadcast(input, target);
  if (beta == 0) return call(input, "aten::l1_loss", {a, b, static_cast<int64_t>(reduction)});
  return call(input, "aten::smooth_l1_loss", {a, b, static_cast<int64_t>(reduction), beta});
}
Tensor huber_loss(Input input, const Tensor& target, Reduction reduction, double delta) {
  const auto [a, b] = broadcast(input, target);
  return call(input, "aten::huber_loss", {a, b, static_cast<int64_t>(reduction), delta});
}

}  // namespace flambeau::nn
