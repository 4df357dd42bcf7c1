#include "flambeau/script/operators/aliases.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace flambeau::script {
namespace {

struct Alias {
  std::string_view name;
  std::string_view target;
};

// Sorted by name.
constexpr Alias kAliases[] = {
    {"aten::absolute", "aten::abs"},
    {"aten::absolute_", "aten::abs_"},
    {"aten::adjoint", "aten::mH"},
    {"aten::arccos", "aten::acos"},
    {"aten::arccos_", "aten::acos_"},
    {"aten::arccosh", "aten::acosh"},
    {"aten::arccosh_", "aten::acosh_"},
    {"aten::arcsin", "aten::asin"},
    {"aten::arcsin_", "aten::asin_"},
    {"aten::arcsinh", "aten::asinh"},
    {"aten::arcsinh_", "aten::asinh_"},
    {"aten::arctan", "aten::atan"},
    {"aten::arctan2", "aten::atan2"},
    {"aten::arctan2_", "aten::atan2_"},
    {"aten::arctan_", "aten::atan_"},
    {"aten::arctanh", "aten::atanh"},
    {"aten::arctanh_", "aten::atanh_"},
    {"aten::clip", "aten::clamp"},
    {"aten::clip_", "aten::clamp_"},
    {"aten::concat", "aten::cat"},
    {"aten::concatenate", "aten::cat"},
    {"aten::det", "aten::linalg_det"},
    {"aten::divide", "aten::div"},
    {"aten::divide_", "aten::div_"},
    {"aten::fix", "aten::trunc"},
    {"aten::fix_", "aten::trunc_"},
    {"aten::ger", "aten::outer"},
    {"aten::greater", "aten::gt"},
    {"aten::greater_", "aten::gt_"},
    {"aten::greater_equal", "aten::ge"},
    {"aten::greater_equal_", "aten::ge_"},
    {"aten::inverse", "aten::linalg_inv"},
    {"aten::less", "aten::lt"},
    {"aten::less_", "aten::lt_"},
    {"aten::less_equal", "aten::le"},
    {"aten::less_equal_", "aten::le_"},
    {"aten::linalg_matmul", "aten::matmul"},
    {"aten::matrix_exp", "aten::linalg_matrix_exp"},
    {"aten::matrix_power", "aten::linalg_matrix_power"},
    {"aten::moveaxis", "aten::movedim"},
    {"aten::multiply", "aten::mul"},
    {"aten::multiply_", "aten::mul_"},
    {"aten::negative", "aten::neg"},
    {"aten::negative_", "aten::neg_"},
    {"aten::not_equal", "aten::ne"},
    {"aten::not_equal_", "aten::ne_"},
    {"aten::orgqr", "aten::linalg_householder_product"},
    {"aten::row_stack", "aten::vstack"},
    {"aten::special_digamma", "aten::digamma"},
    {"aten::special_erf", "aten::erf"},
    {"aten::special_erfc", "aten::erfc"},
    {"aten::special_erfinv", "aten::erfinv"},
    {"aten::special_exp2", "aten::exp2"},
    {"aten::special_expit", "aten::sigmoid"},
    {"aten::special_expm1", "aten::expm1"},
    {"aten::special_gammainc", "aten::igamma"},
    {"aten::special_gammaincc", "aten::igammac"},
    {"aten::special_gammaln", "aten::lgamma"},
    {"aten::special_i0", "aten::i0"},
    {"aten::special_log1p", "aten::log1p"},
    {"aten::special_log_softmax", "aten::log_softmax"},
    {"aten::special_logit", "aten::logit"},
    {"aten::special_logsumexp", "aten::logsumexp"},
    {"aten::special_multigammaln", "aten::mvlgamma"},
    {"aten::special_polygamma", "aten::polygamma"},
    {"aten::special_psi", "aten::digamma"},
    {"aten::special_round", "aten::round"},
    {"aten::special_sinc", "aten::sinc"},
    {"aten::special_softmax", "aten::softmax"},
    {"aten::special_xlogy", "aten::xlogy"},
    {"aten::subtract", "aten::sub"},
    {"aten::subtract_", "aten::sub_"},
    {"aten::swapaxes", "aten::transpose"},
    {"aten::swapaxes_", "aten::transpose_"},
    {"aten::swapdims", "aten::transpose"},
    {"aten::swapdims_", "aten::transpose_"},
    {"aten::true_divide", "aten::div"},
    {"aten::true_divide_", "aten::div_"},
};
static_assert(std::ranges::is_sorted(kAliases, {}, &Alias::name));

}  // namespace

std::string_view alias_target(std::string_view operator_name) {
  const auto* const found = std::ranges::lower_bound(kAliases, operator_name, {}, &Alias::name);
  return found != std::end(kAliases) && found->name == operator_name ? found->target : std::string_view();
}

std::string_view swapped_operator(std::string_view operator_name, std::string_view overload) {
  return operator_name == "aten::rsub" && overload == "Tensor" ? "aten::sub" : "";
}

std::string_view comparison_of_booleans(std::string_view operator_name) {
  if (operator_name == "aten::__is__") return "aten::eq";
  return operator_name == "aten::__isnot__" ? "aten::ne" : "";
}

}  // namespace flambeau::script
