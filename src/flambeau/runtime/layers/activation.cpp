#include "flambeau/runtime/layers/activation.h"

namespace flambeau::runtime {

using kernels::onednn::PostOp;

std::optional<PostOp> as_activation(const Step& step) {
  using K = PostOp::Kind;
  if (step.op == nullptr || step.prepared || step.outputs.size() != 1 || step.arguments.empty()) return {};
  const Tensor* const input = step.arguments[0].get_if<Tensor>();
  if (input == nullptr || input->dtype() != DType::kFloat32 || step.outputs[0].dtype() != DType::kFloat32)
    return {};
  const std::string& name = step.op->schema.name.name;
  const auto number = [&](size_t i) { return static_cast<float>(step.arguments[i].scalar().to_double()); };
  if (!step.op->schema.name.overload.empty()) return {};
  if (name == "aten::relu") return PostOp{.kind = K::kRelu};
  if (name == "aten::leaky_relu") return PostOp{.kind = K::kRelu, .alpha = number(1)};
  if (name == "aten::hardtanh") return PostOp{.kind = K::kClip, .alpha = number(1), .beta = number(2)};
  if (name == "aten::relu6") return PostOp{.kind = K::kClip, .alpha = 0, .beta = 6};
  if (name == "aten::gelu") {
    return PostOp{.kind = step.arguments[1].get<std::string>() == "tanh" ? K::kGeluTanh : K::kGeluErf};
  }
  if (name == "aten::silu") return PostOp{.kind = K::kSilu};
  if (name == "aten::tanh") return PostOp{.kind = K::kTanh};
  if (name == "aten::sigmoid") return PostOp{.kind = K::kSigmoid};
  if (name == "aten::hardswish") return PostOp{.kind = K::kHardSwish};
  return {};
}

}  // namespace flambeau::runtime
