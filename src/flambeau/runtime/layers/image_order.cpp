#include "flambeau/runtime/layers/image_order.h"

#include <algorithm>
#include <set>

#include "flambeau/kernels/onednn/onednn.h"
#include "flambeau/runtime/plan.h"

namespace flambeau::runtime {
namespace {

// By name without overload. Elementwise ones take any order; so do those that treat each channel alike.
constexpr std::string_view kIndifferent[] = {
    "aten::_adaptive_avg_pool2d",
    "aten::_native_batch_norm_legit_no_training",
    "aten::adaptive_avg_pool2d",
    "aten::add",
    "aten::avg_pool2d",
    "aten::batch_norm",
    "aten::cat",
    "aten::clamp",
    "aten::clone",
    "aten::conv2d",
    "aten::convolution",
    "aten::div",
    "aten::elu",
    "aten::gelu",
    "aten::hardsigmoid",
    "aten::hardswish",
    "aten::hardtanh",
    "aten::leaky_relu",
    "aten::max_pool2d",
    "aten::mean",
    "aten::mul",
    "aten::relu",
    "aten::relu6",
    "aten::sigmoid",
    "aten::silu",
    "aten::sub",
    "aten::tanh",
    "aten::upsample_bilinear2d",
    "aten::upsample_nearest2d",
};

bool is_listed(std::string_view name) { return std::ranges::binary_search(kIndifferent, name); }

}  // namespace

ImageOrder::ImageOrder(const Code& code) {
  if (!kernels::onednn::available()) is_allowed_ = false;
  std::set<Slot> views;
  for (const Instruction& instruction : code.instructions) {
    if (instruction.kind != Instruction::Kind::kOperator) {
      if (instruction.kind == Instruction::Kind::kHigherOrder) is_allowed_ = false;
      continue;
    }
    const ops::Operator& op = *instruction.op;
    if (op.schema.is_view()) {
      for (const Target& target : instruction.results) views.insert(target.slots.begin(), target.slots.end());
    }
    if (!op.schema.is_mutable()) continue;
    const bool is_plain = op.kind == ops::Kind::kInPlace && op.base->is_elementwise &&
                          is_listed(op.base->schema.name.name) &&
                          instruction.arguments[0].kind == Source::Kind::kSlot &&
                          !views.contains(instruction.arguments[0].slot);
    const bool is_harmless = op.kind == ops::Kind::kInPlace && op.base->kind == ops::Kind::kDecomposition;
    is_allowed_ = is_allowed_ && (is_plain || is_harmless);
  }
}

bool ImageOrder::is_indifferent(const ops::Operator& op) {
  return op.kind == ops::Kind::kKernel && is_listed(op.schema.name.name);
}

bool ImageOrder::starts_here(const ops::Operator& op, std::span<const Value> arguments) const {
  if (!is_allowed_) return false;
  const std::string name = op.name();
  if (name != "aten::conv2d" && name != "aten::convolution") return false;
  const Tensor& input = arguments[0].tensor();
  const Tensor& weight = arguments[1].tensor();
  return input.dtype() == DType::kFloat32 && input.dim() == 4 && weight.dim() == 4;
}

bool ImageOrder::has_changed(std::span<const Value> arguments) const {
  if (strides_.empty()) return false;
  bool has = false;
  for (const Value& argument : arguments)
    for_each_tensor(argument, [&](const Tensor& tensor) { has = has || is_changed(tensor); });
  return has;
}

void ImageOrder::note(const Tensor& tensor, const Dims& strides) {
  if (tensor.strides() != strides) strides_[tensor.storage().get()] = strides;
}

Tensor ImageOrder::believed(const Tensor& tensor) const {
  const auto found = strides_.find(tensor.storage().get());
  return found == strides_.end() ? tensor : tensor.with_geometry({tensor.sizes(), found->second, 0});
}

std::vector<Value> ImageOrder::believed(std::span<const Value> arguments) const {
  std::vector<Value> values(arguments.begin(), arguments.end());
  for (Value& value : values) for_each_tensor(value, [&](Tensor& tensor) { tensor = believed(tensor); });
  return values;
}

}  // namespace flambeau::runtime
