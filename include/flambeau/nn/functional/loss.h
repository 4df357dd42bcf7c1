// How far an output is from what was wanted.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

// The numbers are the operators'.
enum class Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Tensor mse_loss(Input input, const Tensor& target, Reduction reduction = Reduction::kMean);
Tensor l1_loss(Input input, const Tensor& target, Reduction reduction = Reduction::kMean);
Tensor smooth_l1_loss(Input input, const Tensor& target, Reduction reduction = Reduction::kMean,
                      double beta = 1.0);
Tensor huber_loss(Input input, const Tensor& target, Reduction reduction = Reduction::kMean,
                  double delta = 1.0);
Tensor cross_entropy(Input input, const Tensor& target, const Tensor& weight = {},
                     int64_t ignore_index = -100, Reduction reduction = Reduction::kMean,
                     double label_smoothing = 0.0);
Tensor nll_loss(Input input, const Tensor& target, const Tensor& weight = {}, int64_t ignore_index = -100,
                Reduction reduction = Reduction::kMean);
Tensor binary_cross_entropy(Input input, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::kMean);
Tensor binary_cross_entropy_with_logits(Input input, const Tensor& target, const Tensor& weight = {},
                                        Reduction reduction = Reduction::kMean,
                                        const Tensor& pos_weight = {});
Tensor kl_div(Input input, const Tensor& target, Reduction reduction = Reduction::kMean,
              bool log_target = false);
Tensor margin_ranking_loss(Input input1, const Tensor& input2, const Tensor& target, double margin = 0.0,
                           Reduction reduction = Reduction::kMean);
Tensor soft_margin_loss(Input input, const Tensor& target, Reduction reduction = Reduction::kMean);

Tensor cosine_similarity(Input x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-8);
Tensor pairwise_distance(Input x1, const Tensor& x2, double p = 2.0, double eps = 1e-6, bool keepdim = false);

}  // namespace flambeau::nn
