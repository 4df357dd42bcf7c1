// Convolutions with constant weights: batch normalization folded into the weights, activations and residual
// sums done as the results are written.
#include <cmath>

#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/runtime/layers/chain.h"
#include "flambeau/runtime/layers/fuse.h"

namespace flambeau::runtime {
namespace {

using kernels::ImageOrder;

bool lies(const Tensor& image, ImageOrder order) {
  return order == ImageOrder::kChannelsLast ? ops::is_channels_last(ops::info_of(image))
                                            : image.is_contiguous();
}

// How the images lie. One of a single channel or pixel lies in both orders: then in the other's, and rather
// in the one that the backend likes.
std::optional<std::pair<ImageOrder, ImageOrder>> orders_of(const Tensor& input, const Tensor& out,
                                                           ImageOrder liked) {
  constexpr ImageOrder kOrders[] = {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast};
  if (lies(input, liked) && lies(out, liked)) return std::pair(liked, liked);
  for (const ImageOrder from : kOrders) {
    for (const ImageOrder to : kOrders) {
      if (lies(input, from) && lies(out, to)) return std::pair(from, to);
    }
  }
  return {};
}

// One number for all dimensions of space, or one for each; the dimensions that lack come first.
kernels::Spatial spatial(std::span<const Size> given, size_t space, int64_t neutral) {
  kernels::Spatial made = {neutral, neutral, neutral};
  for (size_t i = 0; i < space && !given.empty(); ++i) made[3 - space + i] = given[given.size() == 1 ? 0 : i];
  return made;
}
kernels::Spatial spatial(const Tensor& tensor) {
  kernels::Spatial made = {1, 1, 1};
  for (size_t d = 2; d < tensor.dim(); ++d) made[3 - tensor.dim() + d] = tensor.sizes()[d];
  return made;
}

// Nothing for one that only the operator's own kernel does.
std::optional<backends::Convolution> convolution_of(const Plan& plan, const ops::ConvolutionCall& call,
                                                    const Tensor& out) {
  const Tensor& input = *call.input;
  const Tensor& weight = *call.weight;
  const Tensor* const bias = call.bias;
  const auto is_constant = [&](const Tensor& tensor) {
    return !plan.find_buffer(tensor) && tensor.dtype() == out.dtype();
  };
  if (input.dtype() != out.dtype() || input.dim() != weight.dim() || input.dim() < 3 || input.dim() > 5 ||
      !is_constant(weight) || input.element_count() == 0 || weight.element_count() == 0)
    return {};
  if (bias != nullptr && (!is_constant(*bias) || !bias->is_contiguous())) return {};
  const auto orders = orders_of(input, out, plan.backend->image_order(call));
  if (!orders) return {};
  const size_t space = input.dim() - 2;
  return backends::Convolution{.shape = {.dtype = out.dtype(),
                                         .transposed = call.is_transposed,
                                         .batch = input.sizes()[0],
                                         .groups = call.groups,
                                         .in_channels = input.sizes()[1],
                                         .out_channels = out.sizes()[1],
                                         .input = spatial(input),
                                         .kernel = spatial(weight),
                                         .stride = spatial(call.stride, space, 1),
                                         .padding = spatial(call.padding, space, 0),
                                         .dilation = spatial(call.dilation, space, 1),
                                         .output_padding = spatial(call.output_padding, space, 0),
                                         .input_order = orders->first,
                                         .output_order = orders->second},
                               .space = space,
                               .weight = weight.to_contiguous(),
                               .bias = bias == nullptr ? Tensor() : *bias,
                               .epilogues = {}};
}

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
  if (!call || !is_same_view(*call->input, before) || before.dtype() != DType::kFloat32 ||
      step.outputs[0].strides() != before.strides())
    return {};
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

Tensor fresh_floats(const Dims& sizes) {
  return Tensor::contiguous(
      DType::kFloat32, sizes,
      Storage::uninitialized(static_cast<size_t>(element_count(sizes)) * sizeof(float)));
}

// The convolution that does the normalization too.
void fold(const Normalization& normalization, backends::Convolution& convolution) {
  const kernels::ConvolutionShape& shape = convolution.shape;
  const Tensor weight = fresh_floats(convolution.weight.sizes());
  const int64_t rows = weight.sizes()[0], columns = weight.sizes()[1];
  const float* from = convolution.weight.data<float>();
  float* to = weight.mutable_data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t channel =
          shape.transposed ? row / (shape.in_channels / shape.groups) * columns + column : row;
      const float scale = normalization.scale[static_cast<size_t>(channel)];
      for (int64_t i = 0; i < shape.kernel_size(); ++i) *to++ = *from++ * scale;
    }
  }
  const Tensor bias = fresh_floats(Dims{shape.out_channels});
  for (size_t c = 0; c < normalization.shift.size(); ++c) {
    const float before = convolution.bias.defined() ? convolution.bias.data<float>()[c] : 0;
    bias.mutable_data<float>()[c] = before * normalization.scale[c] + normalization.shift[c];
  }
  convolution.weight = weight;
  convolution.bias = bias;
}

// What follows the step, or the normalization at `last` behind it, whose statistics are results too.
Chain follow_first_result(Rewrite& rewrite, size_t index, size_t last, bool may_sum) {
  std::vector<Tensor>& outputs = rewrite.plan().steps[last].outputs;
  const std::vector<Tensor> all = outputs;
  outputs.resize(1);
  Chain chain = follow(rewrite, index, last, may_sum);
  rewrite.plan().steps[last].outputs = all;
  return chain;
}

void prepare_image(ops::Context& context, Rewrite& rewrite, size_t index) {
  const Plan& plan = rewrite.plan();
  const Step& step = plan.steps[index];
  if (step.op == nullptr || step.prepared || step.outputs.empty()) return;
  const std::optional<ops::ConvolutionCall> call = step.op->facts().as<ops::ConvolutionCall>(step.arguments);
  std::optional<backends::Convolution> wanted =
      call ? convolution_of(plan, *call, step.outputs[0]) : std::nullopt;
  if (!wanted) return;
  size_t last = index;
  std::string label = step.op->name();
  if (const size_t next = rewrite.uses().only_reader(plan, index); next != Uses::kNobody) {
    const auto normalization = as_normalization(plan, plan.steps[next], step.outputs[0], rewrite.uses());
    if (normalization) {
      fold(*normalization, *wanted);
      last = next;
      label += " + batch_norm";
    }
  }
  const Chain chain = follow_first_result(rewrite, index, last, wanted->shape.dtype == DType::kFloat32);
  wanted->epilogues = chain.epilogues;
  backends::LayerPointer layer = plan.backend->convolution(context, *wanted);
  if (!layer) return;
  if (last != index) rewrite.remove(last);
  replace(rewrite, index, chain, Tensor(*call->input), std::move(label), std::move(layer));
}

}  // namespace

void prepare_images(ops::Context& context, Plan& plan) {
  Rewrite rewrite(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!rewrite.is_removed(i)) prepare_image(context, rewrite, i);
  }
  rewrite.finish();
}

}  // namespace flambeau::runtime
