// Convolutions of images with constant weights: batch normalization folded into the weights, activations and
// residual sums done as the results are written.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/pooled.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/runtime/layers/chain.h"
#include "flambeau/runtime/layers/fuse.h"
#include "flambeau/runtime/layers/post_ops.h"

namespace flambeau::runtime {
namespace {

using kernels::ConvolutionShape;
using kernels::onednn::Layout;
using kernels::onednn::PooledConvolution;

class ConvolutionStep final : public Prepared {
 public:
  ConvolutionStep(PooledConvolution layer, std::string name)
      : layer_(std::move(layer)), name_(std::move(name)) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           MutableByteSpan scratch) const override {
    layer_.run(context.pool(), arguments[0].tensor().data<float>(), outputs[0].mutable_data<float>(),
               scratch.data());
  }
  size_t scratch_bytes() const override { return layer_.scratch_bytes(); }
  std::string name() const override { return name_; }

 private:
  PooledConvolution layer_;
  std::string name_;
};

std::optional<Layout> layout_of(const Tensor& tensor) {
  const ops::Info<Size> info = ops::info_of(tensor);
  const std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  if (ops::is_channels_last(info)) return Layout::channels_last(sizes);
  if (tensor.is_contiguous()) return Layout::plain(sizes);
  return {};
}

// Nothing for one that only the operator's own kernel does.
std::optional<ConvolutionShape> shape_of(const Plan& plan, const ops::ConvolutionCall& call) {
  const Tensor& input = *call.input;
  const Tensor& weight = *call.weight;
  const Tensor* const bias = call.bias;
  const auto is_constant = [&](const Tensor& tensor) {
    return !plan.find_buffer(tensor) && tensor.dtype() == DType::kFloat32;
  };
  if (input.dtype() != DType::kFloat32 || input.dim() != 4 || weight.dim() != 4 || !is_constant(weight))
    return {};
  if (bias != nullptr && (!is_constant(*bias) || !bias->is_contiguous())) return {};
  if (call.is_transposed) return {};
  const auto pair = [](int64_t first, std::span<const Size> given) {
    return kernels::Spatial{first, given.front(), given.back()};
  };
  ConvolutionShape shape;
  shape.batch = input.sizes()[0];
  shape.in_channels = input.sizes()[1];
  shape.out_channels = weight.sizes()[0];
  shape.groups = call.groups;
  shape.input = {1, input.sizes()[2], input.sizes()[3]};
  shape.kernel = {1, weight.sizes()[2], weight.sizes()[3]};
  shape.stride = pair(1, call.stride);
  shape.padding = pair(0, call.padding);
  shape.dilation = pair(1, call.dilation);
  return shape;
}

struct Parameters {
  Tensor weight;
  std::vector<float> bias;
};

// A batch normalization by constants behind the step: its scale and shift for each channel.
struct Normalization {
  std::vector<float> scale;
  std::vector<float> shift;
};

std::optional<Normalization> as_normalization(const Plan& plan, const Step& step, const Tensor& before,
                                              const Uses& uses) {
  if (step.op == nullptr || step.prepared) return {};
  const std::optional<ops::NormalizationCall> call =
      step.op->facts().as<ops::NormalizationCall>(step.arguments);
  if (!call || !is_same_view(*call->input, before)) return {};
  for (size_t i = 1; i < step.outputs.size(); ++i) {  // saved statistics, which nobody reads
    const std::optional<size_t> index = plan.find_buffer(step.outputs[i]);
    if (!index || uses.buffers[*index].leaves || !uses.buffers[*index].readers.empty()) return {};
  }
  const auto channels = static_cast<size_t>(before.sizes()[1]);
  const auto numbers = [&](const Tensor* tensor, float otherwise) -> std::optional<std::vector<float>> {
    if (tensor == nullptr) return std::vector<float>(channels, otherwise);
    if (plan.find_buffer(*tensor) || tensor->dtype() != DType::kFloat32 || !tensor->is_contiguous() ||
        static_cast<size_t>(tensor->element_count()) != channels) {
      return {};
    }
    return std::vector<float>(tensor->data<float>(), tensor->data<float>() + channels);
  };
  const auto weight = numbers(call->weight, 1);
  const auto bias = numbers(call->bias, 0);
  const auto mean = numbers(call->mean, 0);
  const auto variance = numbers(call->variance, 1);
  if (!weight || !bias || !mean || !variance) return {};
  Normalization made{*weight, *bias};
  for (size_t c = 0; c < channels; ++c) {
    const double scale = (*weight)[c] / std::sqrt((*variance)[c] + call->epsilon);
    made.scale[c] = static_cast<float>(scale);
    made.shift[c] = static_cast<float>((*bias)[c] - (*mean)[c] * scale);
  }
  return made;
}

Parameters fold(const Tensor& weight, const Tensor* bias, const Normalization* normalization) {
  Parameters made;
  const Tensor packed = weight.to_contiguous();
  const auto channels = static_cast<size_t>(weight.sizes()[0]);
  if (bias != nullptr) made.bias.assign(bias->data<float>(), bias->data<float>() + channels);
  if (normalization == nullptr) {
    made.weight = packed;
    return made;
  }
  made.bias.resize(channels);
  made.weight =
      Tensor::contiguous(DType::kFloat32, packed.sizes(), Storage::uninitialized(packed.byte_count()));
  const auto size = static_cast<size_t>(packed.element_count()) / channels;
  const float* from = packed.data<float>();
  float* to = made.weight.mutable_data<float>();
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = 0; i < size; ++i) *to++ = *from++ * normalization->scale[c];
    made.bias[c] = made.bias[c] * normalization->scale[c] + normalization->shift[c];
  }
  return made;
}

std::string name_of(const Step& step, bool is_normalized, const Chain& chain, const Plan& plan) {
  std::string name = step.op->name();
  if (is_normalized) name += " + batch_norm";
  for (const size_t index : chain.steps)
    name += " + " + std::string(plan.steps[index].op->schema.name.base_name());
  return name;
}

void prepare_image(ops::Context& context, Rewrite& rewrite, size_t index) {
  Plan& plan = rewrite.plan();
  Step& step = plan.steps[index];
  if (step.op == nullptr || step.prepared) return;
  const std::optional<ops::ConvolutionCall> call = step.op->facts().as<ops::ConvolutionCall>(step.arguments);
  const std::optional<ConvolutionShape> shape = call ? shape_of(plan, *call) : std::nullopt;
  if (!shape) return;
  size_t last = index;
  std::optional<Normalization> normalization;
  const size_t next = rewrite.uses().only_reader(plan, index);
  if (next != Uses::kNobody) {
    normalization = as_normalization(plan, plan.steps[next], step.outputs[0], rewrite.uses());
    if (normalization && plan.steps[next].outputs[0].strides() == step.outputs[0].strides()) {
      last = next;
    } else {
      normalization.reset();
    }
  }
  Chain chain;
  if (normalization && plan.steps[last].outputs.size() > 1) {
    chain.out = plan.steps[last]
                    .outputs[0];  // its statistics are results too: what follows is found by its own buffer
    const std::vector<Tensor> all = plan.steps[last].outputs;
    plan.steps[last].outputs.resize(1);
    chain = follow(rewrite, index, last, true);
    plan.steps[last].outputs = all;
  } else {
    chain = follow(rewrite, index, last, true);
  }
  const std::optional<Layout> source = layout_of(*call->input);
  const std::optional<Layout> out = layout_of(step.outputs[0]);
  if (!source || !out) return;
  const Parameters parameters = fold(*call->weight, call->bias, normalization ? &*normalization : nullptr);
  const int64_t work =
      step.outputs[0].element_count() * (parameters.weight.element_count() / shape->out_channels);
  const int parts = part_count(context.pool(), work);
  try {
    PooledConvolution layer(parts, *shape, *source, *out, parameters.weight.data<float>(),
                            parameters.bias.empty() ? nullptr : parameters.bias.data(),
                            to_post_ops(chain.epilogues));
    step.prepared = std::make_shared<ConvolutionStep>(std::move(layer),
                                                      name_of(step, normalization.has_value(), chain, plan));
  } catch (const Error&) {
    return;  // the operator's own kernels do it
  }
  step.outputs = {chain.out};
  step.arguments = {Value(*call->input)};
  if (normalization) rewrite.remove(last);
  for (const size_t taken : chain.steps) rewrite.remove(taken);
  if (chain.sum.defined()) rewrite.move(chain.out, chain.sum);
}

}  // namespace

void prepare_images(ops::Context& context, Plan& plan) {
  if (!kernels::onednn::available()) return;
  Rewrite rewrite(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!rewrite.is_removed(i)) prepare_image(context, rewrite, i);
  }
  rewrite.finish();
}

}  // namespace flambeau::runtime
