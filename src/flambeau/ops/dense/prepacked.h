// Layers as PyTorch packs them for XNNPACK: objects that keep what they were made of. Nothing is packed here:
// the plain layers run, and results are kept between two numbers.
#pragma once

#include <string_view>

namespace flambeau::ops {

constexpr std::string_view kPrepackedLinearClass = "__torch__.torch.classes.xnnpack.LinearOpContext";
constexpr std::string_view kPrepackedConvolutionClass = "__torch__.torch.classes.xnnpack.Conv2dOpContext";
constexpr std::string_view kPrepackedTransposeClass =
    "__torch__.torch.classes.xnnpack.TransposeConv2dOpContext";

}  // namespace flambeau::ops
