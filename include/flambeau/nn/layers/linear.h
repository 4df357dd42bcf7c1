// Affine maps: torch.nn.modules.linear.
#pragma once

#include "flambeau/nn/layer.h"

namespace flambeau::nn {

class Identity : public Layer<Identity> {
 public:
  static constexpr std::array kArguments{"input"};
  Tree forward(const Tree& input) { return input; }
  Tensor operator()(const Tensor& input) { return from_tree<Tensor>(Layer::operator()(to_tree(input))); }
  std::string class_name() const override { return "torch.nn.modules.linear.Identity"; }
};

class Linear : public Layer<Linear> {
 public:
  Linear(int64_t in_features, int64_t out_features, bool bias = true);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.linear.Linear"; }

  Tensor weight;  // [out, in]
  Tensor bias;
};

class Bilinear : public Layer<Bilinear> {
 public:
  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, bool bias = true);
  static constexpr std::array kArguments{"input1", "input2"};
  Tensor forward(const Tensor& input1, const Tensor& input2);
  std::string class_name() const override { return "torch.nn.modules.linear.Bilinear"; }

  Tensor weight;  // [out, in1, in2]
  Tensor bias;
};

}  // namespace flambeau::nn
