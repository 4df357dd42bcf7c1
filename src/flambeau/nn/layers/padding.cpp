#include "flambeau/nn/layers/padding.h"

#include <fmt/format.h>

#include "flambeau/nn/functional/padding.h"

namespace flambeau::nn {
namespace {

struct Mode {
  const char* class_name;
  const char* mode;
};
// In the order of PaddingMode.
constexpr Mode kModes[] = {{"ConstantPad", "constant"},
                           {"ZeroPad", "constant"},
                           {"ReflectionPad", "reflect"},
                           {"ReplicationPad", "replicate"},
                           {"CircularPad", "circular"}};

}  // namespace

template <PaddingMode kMode, size_t N>
Tensor Pad<kMode, N>::forward(const Tensor& input) {
  constexpr bool kHasValue = kMode == PaddingMode::kConstant || kMode == PaddingMode::kZero;
  return pad(input, Sizes(padding_.begin(), padding_.end()), kModes[static_cast<size_t>(kMode)].mode,
             kHasValue ? std::optional<double>(value_) : std::nullopt);
}

template <PaddingMode kMode, size_t N>
std::string Pad<kMode, N>::class_name() const {
  return fmt::format("torch.nn.modules.padding.{}{}d", kModes[static_cast<size_t>(kMode)].class_name, N);
}

template class Pad<PaddingMode::kConstant, 1>;
template class Pad<PaddingMode::kConstant, 2>;
template class Pad<PaddingMode::kConstant, 3>;
template class Pad<PaddingMode::kZero, 1>;
template class Pad<PaddingMode::kZero, 2>;
template class Pad<PaddingMode::kZero, 3>;
template class Pad<PaddingMode::kReflection, 1>;
template class Pad<PaddingMode::kReflection, 2>;
template class Pad<PaddingMode::kReflection, 3>;
template class Pad<PaddingMode::kReplication, 1>;
template class Pad<PaddingMode::kReplication, 2>;
template class Pad<PaddingMode::kReplication, 3>;
template class Pad<PaddingMode::kCircular, 1>;
template class Pad<PaddingMode::kCircular, 2>;
template class Pad<PaddingMode::kCircular, 3>;

}  // namespace flambeau::nn
