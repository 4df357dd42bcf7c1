#include "flambeau/nn/layers/loss.h"

#include <utility>

#include "flambeau/nn/functional/elementwise.h"

namespace flambeau::nn {

Tensor L1Loss::forward(const Tensor& input, const Tensor& target) {
  return l1_loss(input, target, reduction_);
}
Tensor MSELoss::forward(const Tensor& input, const Tensor& target) {
  return mse_loss(input, target, reduction_);
}
Tensor SmoothL1Loss::forward(const Tensor& input, const Tensor& target) {
  return smooth_l1_loss(input, target, reduction_, beta_);
}
Tensor HuberLoss::forward(const Tensor& input, const Tensor& target) {
  return huber_loss(input, target, reduction_, delta_);
}
CrossEntropyLoss::CrossEntropyLoss(Tensor weight_buffer, int64_t ignore_index, Reduction reduction,
                                   double label_smoothing)
    : weight(std::move(weight_buffer)),
      ignore_index_(ignore_index),
      reduction_(reduction),
      label_smoothing_(label_smoothing) {
  add_buffer("weight", weight);
}
Tensor CrossEntropyLoss::forward(const Tensor& input, const Tensor& target) {
  return cross_entropy(input, target, weight, ignore_index_, reduction_, label_smoothing_);
}
NLLLoss::NLLLoss(Tensor weight_buffer, int64_t ignore_index, Reduction reduction)
    : weight(std::move(weight_buffer)), ignore_index_(ignore_index), reduction_(reduction) {
  add_buffer("weight", weight);
}
Tensor NLLLoss::forward(const Tensor& input, const Tensor& target) {
  return nll_loss(input, target, weight, ignore_index_, reduction_);
}
BCELoss::BCELoss(Tensor weight_buffer, Reduction reduction)
    : weight(std::move(weight_buffer)), reduction_(reduction) {
  add_buffer("weight", weight);
}
Tensor BCELoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy(input, target, weight, reduction_);
}
BCEWithLogitsLoss::BCEWithLogitsLoss(Tensor weight_buffer, Reduction reduction, Tensor pos_weight_buffer)
    : weight(std::move(weight_buffer)), pos_weight(std::move(pos_weight_buffer)), reduction_(reduction) {
  add_buffer("weight", weight);
  add_buffer("pos_weight", pos_weight);
}
Tensor BCEWithLogitsLoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, weight, reduction_, pos_weight);
}
Tensor SoftMarginLoss::forward(const Tensor& input, const Tensor& target) {
  return soft_margin_loss(input, target, reduction_);
}
Tensor MarginRankingLoss::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return margin_ranking_loss(input1, input2, target, margin_, reduction_);
}
Tensor HingeEmbeddingLoss::forward(const Tensor& input, const Tensor& target) {
  return nn::call(input, "aten::hinge_embedding_loss",
                  {input, target, margin_, static_cast<int64_t>(reduction_)});
}
Tensor TripletMarginLoss::forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
  return nn::call(anchor, "aten::triplet_margin_loss",
                  {anchor, positive, negative, options_.margin, options_.p, options_.eps, options_.swap,
                   static_cast<int64_t>(options_.reduction)});
}
Tensor PoissonNLLLoss::forward(const Tensor& input, const Tensor& target) {
  return nn::call(input, "aten::poisson_nll_loss",
                  {input, target, log_input_, full_, eps_, static_cast<int64_t>(reduction_)});
}

Tensor KLDivLoss::forward(const Tensor& input, const Tensor& target) {
  if (!batchmean_) return kl_div(input, target, reduction_, log_target_);
  return div(kl_div(input, target, Reduction::kSum, log_target_), size(input, 0));
}

Tensor CosineSimilarity::forward(const Tensor& x1, const Tensor& x2) {
  return cosine_similarity(x1, x2, dim_, eps_);
}

Tensor PairwiseDistance::forward(const Tensor& x1, const Tensor& x2) {
  return pairwise_distance(x1, x2, p_, eps_, keepdim_);
}

}  // namespace flambeau::nn
