#include "flambeau/script/operators/attributes.h"

#include <algorithm>
#include <span>

namespace flambeau::script {
namespace {

constexpr std::string_view kTensorAttributes[] = {
    "prim::dtype",
    "prim::device",
    "prim::grad",
    "prim::data",
    "prim::shape",
    "prim::is_cuda",
    "prim::is_cpu",
    "prim::is_xla",
    "prim::is_xpu",
    "prim::is_sparse",
    "prim::is_sparse_csr",
    "prim::is_mkldnn",
    "prim::is_mps",
    "prim::is_mtia",
    "prim::is_quantized",
    "prim::is_vulkan",
    "prim::is_ipu",
    "prim::is_meta",
    "aten::is_leaf",
    "prim::is_nested",
    "prim::requires_grad",
    "prim::layout",
    "prim::T",
    "prim::H",
    "aten::mT",
    "aten::mH",
    "prim::is_maia",
    "prim::itemsize",
    "prim::nbytes",
    "prim::ndim",
    "prim::name",
    "aten::real",
    "aten::imag",
    "aten::retains_grad",
};
constexpr std::string_view kDeviceAttributes[] = {"prim::type", "prim::index"};
constexpr std::string_view kOptionalAttributes[] = {"prim::unchecked_unwrap_optional"};

}  // namespace

std::string_view attribute_operator(const Type& type, std::string_view attribute) {
  std::span<const std::string_view> operators;
  if (type.is(TypeKind::kTensor)) operators = kTensorAttributes;
  if (type.is(TypeKind::kDevice)) operators = kDeviceAttributes;
  if (type.is(TypeKind::kOptional)) operators = kOptionalAttributes;
  const auto found = std::ranges::find_if(
      operators, [&](std::string_view name) { return name.substr(name.find("::") + 2) == attribute; });
  return found == operators.end() ? std::string_view() : *found;
}

}  // namespace flambeau::script
