#include "flambeau/runtime/layers/image_order.h"

#include <set>

#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {
ImageOrder::ImageOrder(const Code& code, const backends::Backend& backend) : backend_(backend) {
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
    const bool is_plain = op.kind == ops::Kind::kInPlace && op.base->is(ops::Trait::kElementwise) &&
                          is_indifferent(*op.base) && instruction.arguments[0].kind == Source::Kind::kValue &&
                          !views.contains(instruction.arguments[0].slot);
    const bool is_harmless = op.kind == ops::Kind::kInPlace && op.base->kind == ops::Kind::kDecomposition;
    is_allowed_ = is_allowed_ && (is_plain || is_harmless);
  }
}

bool ImageOrder::is_indifferent(const ops::Operator& op) {
  if (op.kind != ops::Kind::kKernel) return false;
  const bool draws_in_order = op.is(ops::Trait::kRandom);  // of memory
  return op.is(ops::Trait::kAnyLayout) || (op.is(ops::Trait::kElementwise) && !draws_in_order);
}

bool ImageOrder::starts_here(const ops::Operator& op, std::span<const Value> arguments) const {
  if (!is_allowed_) return false;
  const std::optional<ops::ConvolutionCall> call = op.facts().as<ops::ConvolutionCall>(arguments);
  return call && call->input->dim() == 4 && call->weight->dim() == 4 &&
         backend_.image_order(*call) == kernels::ImageOrder::kChannelsLast;
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
