// Padding: torch.nn.modules.padding. Numbers are from the last dimension on, before and after: {left, right,
// top, bottom, front, back}; one number is for all sides.
#pragma once

#include <string>

#include "flambeau/nn/extent.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

enum class PaddingMode { kConstant, kZero, kReflection, kReplication, kCircular };

template <PaddingMode kMode, size_t N>
class Pad : public Layer<Pad<kMode, N>> {
 public:
  explicit Pad(Extent<2 * N> padding)
    requires(kMode != PaddingMode::kConstant)
      : padding_(padding) {}
  Pad(Extent<2 * N> padding, double value)
    requires(kMode == PaddingMode::kConstant)
      : padding_(padding), value_(value) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

 private:
  Extent<2 * N> padding_;
  double value_ = 0;
};
using ConstantPad1d = Pad<PaddingMode::kConstant, 1>;
using ConstantPad2d = Pad<PaddingMode::kConstant, 2>;
using ConstantPad3d = Pad<PaddingMode::kConstant, 3>;
using ZeroPad1d = Pad<PaddingMode::kZero, 1>;
using ZeroPad2d = Pad<PaddingMode::kZero, 2>;
using ZeroPad3d = Pad<PaddingMode::kZero, 3>;
using ReflectionPad1d = Pad<PaddingMode::kReflection, 1>;
using ReflectionPad2d = Pad<PaddingMode::kReflection, 2>;
using ReflectionPad3d = Pad<PaddingMode::kReflection, 3>;
using ReplicationPad1d = Pad<PaddingMode::kReplication, 1>;
using ReplicationPad2d = Pad<PaddingMode::kReplication, 2>;
using ReplicationPad3d = Pad<PaddingMode::kReplication, 3>;
using CircularPad1d = Pad<PaddingMode::kCircular, 1>;
using CircularPad2d = Pad<PaddingMode::kCircular, 2>;
using CircularPad3d = Pad<PaddingMode::kCircular, 3>;

}  // namespace flambeau::nn
