#include "flambeau/script/operators/programs/number_functions.h"

#include <algorithm>
#include <array>

namespace flambeau::script {
namespace {

// By name.
constexpr auto kFunctions = std::to_array<NumberFunction>({
    {"aten::Bool", "", NumberKind::kBool, 1},
    {"aten::Float", "", NumberKind::kFloat, 1},
    {"aten::Int", "aten::trunc", NumberKind::kInt, 1},
    {"aten::__and__", "aten::bitwise_and.Tensor", NumberKind::kBits, 2},
    {"aten::__lshift__", "aten::bitwise_left_shift.Tensor", NumberKind::kBits, 2},
    {"aten::__not__", "aten::logical_not", NumberKind::kBool, 1},
    {"aten::__or__", "aten::bitwise_or.Tensor", NumberKind::kBits, 2},
    {"aten::__rshift__", "aten::bitwise_right_shift.Tensor", NumberKind::kBits, 2},
    {"aten::__xor__", "aten::bitwise_xor.Tensor", NumberKind::kBits, 2},
    {"aten::acos", "aten::acos", NumberKind::kFloat, 1},
    {"aten::add", "aten::add.Tensor", NumberKind::kSame, 2},
    {"aten::asin", "aten::asin", NumberKind::kFloat, 1},
    {"aten::atan", "aten::atan", NumberKind::kFloat, 1},
    {"aten::atan2", "aten::atan2", NumberKind::kFloat, 2},
    {"aten::ceil", "aten::ceil", NumberKind::kInt, 1},
    {"aten::cos", "aten::cos", NumberKind::kFloat, 1},
    {"aten::cosh", "aten::cosh", NumberKind::kFloat, 1},
    {"aten::div", "aten::div.Tensor", NumberKind::kFloat, 2},
    {"aten::eq", "aten::eq.Tensor", NumberKind::kBool, 2, Asks::kEqual},
    {"aten::exp", "aten::exp", NumberKind::kFloat, 1},
    {"aten::expm1", "aten::expm1", NumberKind::kFloat, 1},
    {"aten::fabs", "aten::abs", NumberKind::kFloat, 1},
    {"aten::floor", "aten::floor", NumberKind::kInt, 1},
    {"aten::floordiv", "aten::floor_divide", NumberKind::kSame, 2},
    {"aten::fmod", "aten::fmod.Tensor", NumberKind::kFloat, 2},
    {"aten::ge", "aten::ge.Tensor", NumberKind::kBool, 2, Asks::kGreaterOrEqual},
    {"aten::gt", "aten::gt.Tensor", NumberKind::kBool, 2, Asks::kGreater},
    {"aten::isfinite", "aten::isfinite", NumberKind::kBool, 1},
    {"aten::isinf", "aten::isinf", NumberKind::kBool, 1},
    {"aten::isnan", "aten::isnan", NumberKind::kBool, 1},
    {"aten::le", "aten::le.Tensor", NumberKind::kBool, 2, Asks::kLessOrEqual},
    {"aten::log", "aten::log", NumberKind::kFloat, 1},
    {"aten::log10", "aten::log10", NumberKind::kFloat, 1},
    {"aten::log1p", "aten::log1p", NumberKind::kFloat, 1},
    {"aten::log2", "aten::log2", NumberKind::kFloat, 1},
    {"aten::lt", "aten::lt.Tensor", NumberKind::kBool, 2, Asks::kLess},
    {"aten::mul", "aten::mul.Tensor", NumberKind::kSame, 2},
    {"aten::ne", "aten::ne.Tensor", NumberKind::kBool, 2, Asks::kNotEqual},
    {"aten::neg", "aten::neg", NumberKind::kSame, 1},
    {"aten::pow", "aten::pow.Tensor_Tensor", NumberKind::kSame, 2},
    {"aten::remainder", "aten::remainder.Tensor", NumberKind::kSame, 2},
    {"aten::round", "aten::round", NumberKind::kFloat, 1},
    {"aten::sin", "aten::sin", NumberKind::kFloat, 1},
    {"aten::sinh", "aten::sinh", NumberKind::kFloat, 1},
    {"aten::sqrt", "aten::sqrt", NumberKind::kFloat, 1},
    {"aten::sub", "aten::sub.Tensor", NumberKind::kSame, 2},
    {"aten::tan", "aten::tan", NumberKind::kFloat, 1},
    {"aten::tanh", "aten::tanh", NumberKind::kFloat, 1},
    {"prim::abs", "aten::abs", NumberKind::kSame, 1},
    {"prim::max", "aten::maximum", NumberKind::kSame, 2},
    {"prim::min", "aten::minimum", NumberKind::kSame, 2},
});
static_assert(std::ranges::is_sorted(kFunctions, {}, &NumberFunction::builtin));

}  // namespace

const NumberFunction* find_number_function(std::string_view builtin) {
  const std::string_view base = builtin.substr(0, builtin.find('.'));
  const auto* const found = std::ranges::lower_bound(kFunctions, base, {}, &NumberFunction::builtin);
  return found != kFunctions.end() && found->builtin == base ? found : nullptr;
}

}  // namespace flambeau::script
