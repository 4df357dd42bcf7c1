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

// UpsamplingNearest2d({}, {{2.0}}): to a size or by factors.
class UpsamplingNearest2d : public Upsample {
 public:
  explicit UpsamplingNearest2d(std::optional<Sizes> size,
                               std::optional<std::vector<double>> scale_factor = {})
      : Upsample({.size = std::move(size), .scale_factor = std::move(scale_factor)}) {}
  std::string class_name() const override { return "torch.nn.modules.upsampling.UpsamplingNearest2d"; }
};

class UpsamplingBilinear2d : public Upsample {
 public:
  explicit UpsamplingBilinear2d(std::optional<Sizes> size,
                                std::optional<std::vector<double>> scale_factor = {})
      : Upsample({.size = std::move(size),
                  .scale_factor = std::move(scale_factor),
                  .mode = "bilinear",
                  .align_corners = true}) {}
  std::string class_name() const override { return "torch.nn.modules.upsampling.UpsamplingBilinear2d"; }
};

}  // namespace flambeau::nn
