// Images made larger: torch.nn.modules.upsampling.
#pragma once

#include <string>

#include "flambeau/nn/functional/upsampling.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

// Upsample({.scale_factor = {{2.0}}, .mode = "bilinear"})
class Upsample : public Layer<Upsample> {
 public:
  explicit Upsample(Interpolation how) : how_(std::move(how)) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input) { return interpolate(input, how_); }
  std::string class_name() const override { return "torch.nn.modules.upsampling.Upsample"; }

 private:
  Interpolation how_;
};

}  // namespace flambeau::nn
