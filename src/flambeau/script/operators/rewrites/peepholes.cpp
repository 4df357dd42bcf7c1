#include "flambeau/script/operators/rewrites/peepholes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace flambeau::script {
namespace {

constexpr std::array<std::pair<std::string_view, Peephole>, 23> kPeepholes = {{
    {"aten::FloatImplicit", Peephole::kToNumber},
    {"aten::Float", Peephole::kToNumber},
    {"aten::Int", Peephole::kToInt},
    {"aten::IntImplicit", Peephole::kToNumber},
    {"aten::ScalarImplicit", Peephole::kToNumber},
    {"aten::__is__", Peephole::kIs},
    {"aten::__isnot__", Peephole::kIsNot},
    {"aten::_unwrap_optional", Peephole::kUnwrap},
    {"aten::add", Peephole::kPlus},
    {"aten::ceil", Peephole::kRoundUp},
    {"aten::conv1d", Peephole::kConvolution1d},
    {"aten::conv2d", Peephole::kConvolution2d},
    {"aten::conv3d", Peephole::kConvolution3d},
    {"aten::dim", Peephole::kDimensionCount},
    {"aten::div", Peephole::kTimes},
    {"aten::eq", Peephole::kEqual},
    {"aten::floordiv", Peephole::kTimes},
    {"aten::mul", Peephole::kCommutedTimes},
    {"aten::ne", Peephole::kNotEqual},
    {"aten::sub", Peephole::kMinus},
    {"aten::t", Peephole::kTranspose},
    {"prim::NumToTensor", Peephole::kToTensor},
    {"prim::unchecked_unwrap_optional", Peephole::kUnwrap},
}};

}  // namespace

Peephole find_peephole(std::string_view operator_name) {
  for (const auto& [name, found] : kPeepholes) {
    if (name == operator_name) return found;
  }
  return Peephole::kNone;
}

}  // namespace flambeau::script
