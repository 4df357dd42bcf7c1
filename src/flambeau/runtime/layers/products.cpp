// Products with constant weights: packed once, with bias and activation done as the results are written.
#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/pooled.h"
#include "flambeau/runtime/layers/chain.h"
#include "flambeau/runtime/layers/fuse.h"

namespace flambeau::runtime {
namespace {

using kernels::onednn::MatmulShape;
using kernels::onednn::PooledMatmul;

class ProductStep final : public Prepared {
 public:
  ProductStep(PooledMatmul layer, size_t input, std::string name)
      : layer_(std::move(layer)), input_(input), name_(std::move(name)) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           MutableByteSpan scratch) const override {
    layer_.run(context.pool(), arguments[input_].tensor().data<float>(), nullptr,
               outputs[0].mutable_data<float>(), scratch.data());
  }
  size_t scratch_bytes() const override { return layer_.scratch_bytes(); }
  std::string name() const override { return name_; }

 private:
  PooledMatmul layer_;
  size_t input_;
  std::string name_;
};

struct Product {
  MatmulShape shape;
  size_t input = 0;  // which argument
  const float* right = nullptr;
  const float* bias = nullptr;
};

std::optional<Product> product_of(const Plan& plan, const Step& step) {
  if (step.op == nullptr || step.prepared || step.outputs.size() != 1) return {};
  const std::string name = step.op->name();
  const bool is_linear = name == "aten::linear";
  const bool is_addmm = name == "aten::addmm";
  if (!is_linear && !is_addmm && name != "aten::mm" && name != "aten::matmul") return {};
  Product product;
  product.input = is_addmm ? 1 : 0;
  const Tensor& input = step.arguments[product.input].tensor();
  const Tensor& weight = step.arguments[product.input + 1].tensor();
  const Tensor* const bias = is_linear  ? step.arguments[2].get_if<Tensor>()
                             : is_addmm ? step.arguments[0].get_if<Tensor>()
                                        : nullptr;
  const auto is_constant = [&](const Tensor& tensor) {
    return !plan.find_buffer(tensor) && tensor.dtype() == DType::kFloat32;
  };
  if (input.dtype() != DType::kFloat32 || input.dim() == 0 || !input.is_contiguous() ||
      !is_constant(weight) || weight.dim() != 2)
    return {};
  if (!step.outputs[0].is_contiguous()) return {};
  const int64_t columns = weight.sizes()[is_linear ? 0 : 1];
  const int64_t depth = weight.sizes()[is_linear ? 1 : 0];
  if (bias != nullptr &&
      (!is_constant(*bias) || bias->dim() != 1 || bias->sizes()[0] != columns || !bias->is_contiguous()))
    return {};
  if (is_addmm &&
      !(step.arguments[3].scalar() == Scalar(int64_t{1}) && step.arguments[4].scalar() == Scalar(int64_t{1})))
    return {};
  if (depth == 0 || columns == 0 || input.element_count() == 0) return {};
  product.shape.rows = input.element_count() / depth;
  product.shape.columns = columns;
  product.shape.depth = depth;
  product.shape.left = kernels::MatrixSteps::packed(product.shape.rows, depth);
  product.shape.out = kernels::MatrixSteps::packed(product.shape.rows, columns);
  product.shape.right = {weight.strides()[is_linear ? 1 : 0], weight.strides()[is_linear ? 0 : 1], 0};
  product.right = weight.data<float>();
  product.bias = bias == nullptr ? nullptr : bias->data<float>();
  return product;
}

void prepare_product(ops::Context& context, Rewrite& rewrite, size_t index, PackedWeights& packed) {
  Plan& plan = rewrite.plan();
  Step& step = plan.steps[index];
  const std::optional<Product> product = product_of(plan, step);
  if (!product) return;
  const Chain chain = follow(rewrite, index, index, true);
  const int parts =
      part_count(context.pool(), product->shape.rows * product->shape.columns * product->shape.depth);
  std::string name = step.op->name();
  for (const size_t taken : chain.steps)
    name += " + " + std::string(plan.steps[taken].op->schema.name.base_name());
  try {
    PooledMatmul layer = packed.with(step.arguments[product->input + 1].tensor(), [&](auto& columns) {
      return PooledMatmul(parts, product->shape, product->right, product->bias, chain.post, &columns);
    });
    step.prepared = std::make_shared<ProductStep>(std::move(layer), product->input, std::move(name));
  } catch (const Error&) {
    return;  // the operator's own kernel does it
  }
  step.outputs = {chain.out};
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
