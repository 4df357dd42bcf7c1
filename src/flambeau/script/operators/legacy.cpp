#include "flambeau/script/operators/legacy.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "flambeau/base/ascii.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kMangled = ".___torch_mangle_";
constexpr std::string_view kLinear = "__torch__.torch.classes.quantized.LinearPackedParamsBase";
constexpr std::string_view kConv2d = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
constexpr std::string_view kConv3d = "__torch__.torch.classes.quantized.Conv3dPackedParamsBase";

struct PackedClass {
  std::string_view module;
  std::string_view packed;
};
constexpr auto kPackedClasses = std::to_array<PackedClass>({
    {"__torch__.torch.ao.nn.quantized.modules.linear.LinearPackedParams", kLinear},
    {"__torch__.torch.ao.nn.quantized.modules.linear.Linear", kLinear},
    {"__torch__.torch.ao.nn.quantized.dynamic.modules.linear.Linear", kLinear},
    {"__torch__.torch.ao.nn.quantized.modules.conv.Conv2d", kConv2d},
    {"__torch__.torch.nn.intrinsic.quantized.modules.conv_relu.ConvReLU2d", kConv2d},
    {"__torch__.torch.ao.nn.quantized.modules.conv.Conv3d", kConv3d},
    {"__torch__.torch.nn.intrinsic.quantized.modules.conv_relu.ConvReLU3d", kConv3d},
    {"__torch__.torch.nn.quantized.modules.linear.LinearPackedParams", kLinear},
    {"__torch__.torch.nn.quantized.modules.linear.Linear", kLinear},
    {"__torch__.torch.nn.quantized.modules.conv.Conv2d", kConv2d},
    {"__torch__.torch.nn.quantized.modules.conv.Conv3d", kConv3d},
    {"__torch__.torch.nn.quantized.dynamic.modules.linear.Linear", kLinear},
});

}  // namespace

std::string_view legacy_operator(std::string_view function, std::string_view operator_name) {
  if (operator_name != "quantized::linear_prepack" ||
      function != "__torch__.torch.nn.quantized.dynamic.modules.rnn.PackedParameter.__setstate__") {
    return {};
  }
  return "quantized::linear_prepack_legacy";
}

std::string_view packed_attribute_class(std::string_view class_name, std::string_view attribute) {
  if (attribute != "_packed_params") return {};
  const std::string plain = without_mangling(class_name);
  const auto* found = std::ranges::find(kPackedClasses, plain, &PackedClass::module);
  return found == kPackedClasses.end() ? std::string_view() : found->packed;
}

const OperatorEntry* new_convolution(const SchemaTable& operators, const OperatorName& old) {
  static constexpr std::string_view kConvolutions[] = {"quantized::conv2d", "quantized::conv2d_relu",
                                                       "quantized::conv3d", "quantized::conv3d_relu"};
  if (!old.overload.empty() || std::ranges::find(kConvolutions, old.name) == std::end(kConvolutions))
    return nullptr;
  return operators.find(old.name, "new");
}

std::string without_mangling(std::string_view qualified_name) {
  std::string result;
  while (true) {
    const size_t at = qualified_name.find(kMangled);
    result += qualified_name.substr(0, at);
    if (at == std::string_view::npos) return result;
    std::string_view rest = qualified_name.substr(at + kMangled.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    // Only a number makes it such a part.
    if (digits == 0) result += kMangled;
    qualified_name = rest.substr(digits);
  }
}

}  // namespace flambeau::script
