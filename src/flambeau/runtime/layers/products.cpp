// Products with constant weights: packed once, with bias and activation done as the results are written.
#include "flambeau/runtime/layers/chain.h"
#include "flambeau/runtime/layers/fuse.h"

namespace flambeau::runtime {
namespace {

// Nothing for one that only the operator's own kernel does.
std::optional<backends::Product> product_of(const Plan& plan, const ops::ProductCall& call,
                                            const Tensor& out) {
  const Tensor& input = *call.input;
  const Tensor& weight = *call.weight;
  const auto is_constant = [&](const Tensor& tensor) {
    return !plan.find_buffer(tensor) && tensor.dtype() == out.dtype();
  };
  if (input.dtype() != out.dtype() || input.dim() == 0 || !input.is_contiguous() || !out.is_contiguous() ||
      !is_constant(weight) || weight.dim() != 2)
    return {};
  const size_t across = call.is_turned ? 0 : 1;
  const int64_t columns = weight.sizes()[across];
  const int64_t depth = weight.sizes()[1 - across];
  if (depth == 0 || columns == 0 || input.element_count() == 0) return {};
  const Tensor* const bias = call.bias;
  if (bias != nullptr &&
      (!is_constant(*bias) || bias->dim() != 1 || bias->sizes()[0] != columns || !bias->is_contiguous()))
    return {};
  const int64_t rows = input.element_count() / depth;
  return backends::Product{.shape = {.dtype = out.dtype(),
                                     .rows = rows,
                                     .columns = columns,
                                     .depth = depth,
                                     .left = kernels::MatrixSteps::packed(rows, depth),
                                     .right = {weight.strides()[1 - across], weight.strides()[across], 0},
                                     .out = kernels::MatrixSteps::packed(rows, columns)},
                           .weight = weight,
                           .bias = bias == nullptr ? Tensor() : *bias,
                           .epilogues = {}};
}

void prepare_product(ops::Context& context, Rewrite& rewrite, size_t index, backends::PackedWeights& packed) {
  const Plan& plan = rewrite.plan();
  const Step& step = plan.steps[index];
  if (step.op == nullptr || step.prepared || step.outputs.size() != 1) return;
  const std::optional<ops::ProductCall> call = step.op->facts().as<ops::ProductCall>(step.arguments);
  std::optional<backends::Product> wanted = call ? product_of(plan, *call, step.outputs[0]) : std::nullopt;
  if (!wanted) return;
  const Chain chain = follow(rewrite, index, index, wanted->shape.dtype == DType::kFloat32);
  wanted->epilogues = chain.epilogues;
  if (backends::LayerPointer layer = plan.backend->product(context, *wanted, packed))
    replace(rewrite, index, chain, Tensor(*call->input), step.op->name(), std::move(layer));
}

}  // namespace

void prepare_products(ops::Context& context, Plan& plan, backends::PackedWeights& packed) {
  Rewrite rewrite(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!rewrite.is_removed(i)) prepare_product(context, rewrite, i, packed);
  }
  rewrite.finish();
}

}  // namespace flambeau::runtime
