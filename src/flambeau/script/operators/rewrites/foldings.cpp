#include "flambeau/script/operators/rewrites/foldings.h"

#include <array>
#include <utility>

namespace flambeau::script {

Folding folding_of(const OperatorName& name) {
  constexpr std::array<std::pair<std::string_view, Folding>, 10> kFoldings = {{
      {"aten::conv1d", Folding::kConvolution},
      {"aten::conv2d", Folding::kConvolution},
      {"aten::conv3d", Folding::kConvolution},
      {"aten::linear", Folding::kLinear},
      {"aten::batch_norm", Folding::kBatchNorm},
      {"aten::dim", Folding::kRank},
      {"aten::add", Folding::kAdd},
      {"aten::sub", Folding::kSubtract},
      {"aten::mul", Folding::kMultiply},
      {"aten::div", Folding::kDivide},
  }};
  for (const auto& [known, folding] : kFoldings) {
    const bool is_arithmetic = folding >= Folding::kAdd;
    // Other overloads round, or are about plain numbers.
    if (name.name == known && (!is_arithmetic || name.overload == "Tensor" || name.overload == "Scalar")) {
      return folding;
    }
  }
  return Folding::kNone;
}

std::string_view functional_name(std::string_view operator_name) {
  constexpr std::string_view kSpace = "aten::";
  if (!operator_name.starts_with(kSpace) || !operator_name.ends_with('_') || operator_name.ends_with("__"))
    return {};
  return operator_name.substr(0, operator_name.size() - 1);
}

bool is_append(std::string_view operator_name) { return operator_name == "aten::append"; }
bool is_wait(std::string_view operator_name) { return operator_name == "aten::wait"; }

}  // namespace flambeau::script
