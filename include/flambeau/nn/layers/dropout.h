// Dropout: torch.nn.modules.dropout. In evaluation they pass on what they get.
#pragma once

#include <string>

#include "flambeau/nn/layer.h"

namespace flambeau::nn {

class Dropout : public Layer<Dropout> {
 public:
  explicit Dropout(double p = 0.5, bool inplace = false);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.dropout.Dropout"; }

 private:
  double p_;
  bool inplace_;
};

// Whole channels of [N, C, L] or [C, L].
class Dropout1d : public Layer<Dropout1d> {
 public:
  explicit Dropout1d(double p = 0.5, bool inplace = false);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.dropout.Dropout1d"; }

 private:
  double p_;
  bool inplace_;
};

// Whole channels of [N, C, H, W].
class Dropout2d : public Layer<Dropout2d> {
 public:
  explicit Dropout2d(double p = 0.5, bool inplace = false);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.dropout.Dropout2d"; }

 private:
  double p_;
  bool inplace_;
};

// Whole channels of [N, C, D, H, W] or [C, D, H, W].
class Dropout3d : public Layer<Dropout3d> {
 public:
  explicit Dropout3d(double p = 0.5, bool inplace = false);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.dropout.Dropout3d"; }

 private:
  double p_;
  bool inplace_;
};

class AlphaDropout : public Layer<AlphaDropout> {
 public:
  explicit AlphaDropout(double p = 0.5, bool inplace = false);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.dropout.AlphaDropout"; }

 private:
  double p_;
  bool inplace_;
};

class FeatureAlphaDropout : public Layer<FeatureAlphaDropout> {
 public:
  explicit FeatureAlphaDropout(double p = 0.5, bool inplace = false);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.dropout.FeatureAlphaDropout"; }

 private:
  double p_;
  bool inplace_;
};

}  // namespace flambeau::nn
