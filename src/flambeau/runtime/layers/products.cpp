// Products with constant weights: packed once, with bias and activation done as the results are written.
#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/pooled.h"
#include "flambeau/runtime/layers/chain.h"
#include "flambeau/runtime/layers/fuse.h"
#include "flambeau/runtime/layers/post_ops.h"

namespace flambeau::runtime {
namespace {

using kernels::onednn::MatmulShape;
using kernels::onednn::PooledMatmul;

class ProductStep final : public Prepared {
 public:
  ProductStep(PooledMatmul layer, std::string name) : layer_(std::move(layer)), name_(std::move(name)) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           MutableByteSpan scratch) const override {
    layer_.run(context.pool(), arguments[0].tensor().data<float>(), nullptr, outputs[0].mutable_data<float>(),
               scratch.data());
  }
  size_t scratch_bytes() const override { return layer_.scratch_bytes(); }
  std::string name() const override { return name_; }

 private:
  PooledMatmul layer_;
  std::string name_;
};

// Nothing for one that only the operator's own kernel does.
std::optional<MatmulShape> shape_of(const Plan& plan, const ops::ProductCall& call, const Tensor& out) {
  const Tensor& input = *call.input;
  const Tensor& weight = *call.weight;
  const Tensor* const bias = call.bias;
  const auto is_constant = [&](const Tensor& tensor) {
    return !plan.find_buffer(tensor) && tensor.dtype() == DType::kFloat32;
  };
  if (input.dtype() != DType::kFloat32 || input.dim() == 0 || !input.is_contiguous() ||
      !is_constant(weight) || weight.dim() != 2)
    return {};
  if (!out.is_contiguous()) return {};
  const size_t across = call.is_turned ? 0 : 1;
  const int64_t columns = weight.sizes()[across];
  const int64_t depth = weight.sizes()[1 - across];
  if (bias != nullptr &&
      (!is_constant(*bias) || bias->dim() != 1 || bias->sizes()[0] != columns || !bias->is_contiguous()))
    return {};
  if (depth == 0 || columns == 0 || input.element_count() == 0) return {};
  MatmulShape shape;
  shape.rows = input.element_count() / depth;
  shape.columns = columns;
  shape.depth = depth;
  shape.left = kernels::MatrixSteps::packed(shape.rows, depth);
  shape.out = kernels::MatrixSteps::packed(shape.rows, columns);
  shape.right = {weight.strides()[1 - across], weight.strides()[across], 0};
  return shape;
}

void prepare_product(ops::Context& context, Rewrite& rewrite, size_t index, PackedWeights& packed) {
  Plan& plan = rewrite.plan();
  Step& step = plan.steps[index];
  if (step.op == nullptr || step.prepared || step.outputs.size() != 1) return;
  const std::optional<ops::ProductCall> call = step.op->facts().as<ops::ProductCall>(step.arguments);
  const std::optional<MatmulShape> shape = call ? shape_of(plan, *call, step.outputs[0]) : std::nullopt;
  if (!shape) return;
  const Chain chain = follow(rewrite, index, index, true);
  const int parts = part_count(context.pool(), shape->rows * shape->columns * shape->depth);
  std::string name = step.op->name();
  for (const size_t taken : chain.steps)
    name += " + " + std::string(plan.steps[taken].op->schema.name.base_name());
  try {
    PooledMatmul layer = packed.with(*call->weight, [&](auto& columns) {
      return PooledMatmul(parts, *shape, call->weight->data<float>(),
                          call->bias == nullptr ? nullptr : call->bias->data<float>(),
                          to_post_ops(chain.epilogues), &columns);
    });
    step.prepared = std::make_shared<ProductStep>(std::move(layer), std::move(name));
  } catch (const Error&) {
    return;  // the operator's own kernel does it
  }
  step.outputs = {chain.out};
  step.arguments = {Value(*call->input)};
  for (const size_t taken : chain.steps) rewrite.remove(taken);
  if (chain.sum.defined()) rewrite.move(chain.out, chain.sum);
}

}  // namespace

void prepare_products(ops::Context& context, Plan& plan, PackedWeights& packed) {
  if (!kernels::onednn::available()) return;
  Rewrite rewrite(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!rewrite.is_removed(i)) prepare_product(context, rewrite, i, packed);
  }
  rewrite.finish();
}

}  // namespace flambeau::runtime
