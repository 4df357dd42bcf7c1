// Losses: torch.nn.modules.loss.
#pragma once

#include <string>

#include "flambeau/nn/functional/loss.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

class L1Loss : public Layer<L1Loss> {
 public:
  explicit L1Loss(Reduction reduction = Reduction::kMean) : reduction_(reduction) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.L1Loss"; }

 private:
  Reduction reduction_;
};

class MSELoss : public Layer<MSELoss> {
 public:
  explicit MSELoss(Reduction reduction = Reduction::kMean) : reduction_(reduction) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.MSELoss"; }

 private:
  Reduction reduction_;
};

class SmoothL1Loss : public Layer<SmoothL1Loss> {
 public:
  explicit SmoothL1Loss(Reduction reduction = Reduction::kMean, double beta = 1.0)
      : reduction_(reduction), beta_(beta) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.SmoothL1Loss"; }

 private:
  Reduction reduction_;
  double beta_;
};

class HuberLoss : public Layer<HuberLoss> {
 public:
  explicit HuberLoss(Reduction reduction = Reduction::kMean, double delta = 1.0)
      : reduction_(reduction), delta_(delta) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.HuberLoss"; }

 private:
  Reduction reduction_;
  double delta_;
};

class CrossEntropyLoss : public Layer<CrossEntropyLoss> {
 public:
  explicit CrossEntropyLoss(Tensor weight = {}, int64_t ignore_index = -100,
                            Reduction reduction = Reduction::kMean, double label_smoothing = 0.0);
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.CrossEntropyLoss"; }

  Tensor weight;

 private:
  int64_t ignore_index_;
  Reduction reduction_;
  double label_smoothing_;
};

class NLLLoss : public Layer<NLLLoss> {
 public:
  explicit NLLLoss(Tensor weight = {}, int64_t ignore_index = -100, Reduction reduction = Reduction::kMean);
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.NLLLoss"; }

  Tensor weight;

 private:
  int64_t ignore_index_;
  Reduction reduction_;
};

class BCELoss : public Layer<BCELoss> {
 public:
  explicit BCELoss(Tensor weight = {}, Reduction reduction = Reduction::kMean);
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.BCELoss"; }

  Tensor weight;

 private:
  Reduction reduction_;
};

class BCEWithLogitsLoss : public Layer<BCEWithLogitsLoss> {
 public:
  explicit BCEWithLogitsLoss(Tensor weight = {}, Reduction reduction = Reduction::kMean,
                             Tensor pos_weight = {});
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.BCEWithLogitsLoss"; }

  Tensor weight;
  Tensor pos_weight;

 private:
  Reduction reduction_;
};

class SoftMarginLoss : public Layer<SoftMarginLoss> {
 public:
  explicit SoftMarginLoss(Reduction reduction = Reduction::kMean) : reduction_(reduction) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.SoftMarginLoss"; }

 private:
  Reduction reduction_;
};

class MarginRankingLoss : public Layer<MarginRankingLoss> {
 public:
  explicit MarginRankingLoss(double margin = 0.0, Reduction reduction = Reduction::kMean)
      : margin_(margin), reduction_(reduction) {}
  static constexpr std::array kArguments{"input1", "input2", "target"};
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.MarginRankingLoss"; }

 private:
  double margin_;
  Reduction reduction_;
};

class HingeEmbeddingLoss : public Layer<HingeEmbeddingLoss> {
 public:
  explicit HingeEmbeddingLoss(double margin = 1.0, Reduction reduction = Reduction::kMean)
      : margin_(margin), reduction_(reduction) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.HingeEmbeddingLoss"; }

 private:
  double margin_;
  Reduction reduction_;
};

struct TripletOptions {
  double margin = 1.0, p = 2.0, eps = 1e-6;
  bool swap = false;
  Reduction reduction = Reduction::kMean;
};
class TripletMarginLoss : public Layer<TripletMarginLoss> {
 public:
  explicit TripletMarginLoss(TripletOptions options = {}) : options_(options) {}
  static constexpr std::array kArguments{"anchor", "positive", "negative"};
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  std::string class_name() const override { return "torch.nn.modules.loss.TripletMarginLoss"; }

 private:
  TripletOptions options_;
};

class PoissonNLLLoss : public Layer<PoissonNLLLoss> {
 public:
  explicit PoissonNLLLoss(bool log_input = true, bool full = false, double eps = 1e-8,
                          Reduction reduction = Reduction::kMean)
      : log_input_(log_input), full_(full), eps_(eps), reduction_(reduction) {}
  static constexpr std::array kArguments{"log_input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.PoissonNLLLoss"; }

 private:
  bool log_input_, full_;
  double eps_;
  Reduction reduction_;
};

// Divided by the size of the batch where `batchmean` is set, which is what the divergence is defined as.
class KLDivLoss : public Layer<KLDivLoss> {
 public:
  explicit KLDivLoss(Reduction reduction = Reduction::kMean, bool log_target = false, bool batchmean = false)
      : reduction_(reduction), log_target_(log_target), batchmean_(batchmean) {}
  static constexpr std::array kArguments{"input", "target"};
  Tensor forward(const Tensor& input, const Tensor& target);
  std::string class_name() const override { return "torch.nn.modules.loss.KLDivLoss"; }

 private:
  Reduction reduction_;
  bool log_target_;
  bool batchmean_;
};

class CosineSimilarity : public Layer<CosineSimilarity> {
 public:
  explicit CosineSimilarity(int64_t dim = 1, double eps = 1e-8) : dim_(dim), eps_(eps) {}
  static constexpr std::array kArguments{"x1", "x2"};
  Tensor forward(const Tensor& x1, const Tensor& x2);
  std::string class_name() const override { return "torch.nn.modules.distance.CosineSimilarity"; }

 private:
  int64_t dim_;
  double eps_;
};

class PairwiseDistance : public Layer<PairwiseDistance> {
 public:
  explicit PairwiseDistance(double p = 2.0, double eps = 1e-6, bool keepdim = false)
      : p_(p), eps_(eps), keepdim_(keepdim) {}
  static constexpr std::array kArguments{"x1", "x2"};
  Tensor forward(const Tensor& x1, const Tensor& x2);
  std::string class_name() const override { return "torch.nn.modules.distance.PairwiseDistance"; }

 private:
  double p_, eps_;
  bool keepdim_;
};

}  // namespace flambeau::nn
