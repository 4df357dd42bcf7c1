#include "flambeau/backends/portable/portable.h"

#include "flambeau/ops/rnn/prepared_rnn.h"

namespace flambeau::backends {
namespace {

class ConvolutionRun final : public PreparedLayer {
 public:
  explicit ConvolutionRun(kernels::Convolution convolution) : convolution_(std::move(convolution)) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           Storage&) const override {
    convolution_.run(context.pool(), arguments[0].tensor().data(), outputs[0].mutable_data());
  }

 private:
  kernels::Convolution convolution_;
};

class ProductRun final : public PreparedLayer {
 public:
  ProductRun(const Product& wanted, kernels::PackedMatrix packed)
      : wanted_(wanted), packed_(std::move(packed)) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           Storage&) const override {
    const void* const left = arguments[0].tensor().data();
    void* const out = outputs[0].mutable_data();
    kernels::GemmAddend bias;
    if (wanted_.bias.defined()) bias = {.data = wanted_.bias.data(), .steps = {0, 1, 0}};
    if (packed_) {
      kernels::gemm(context.pool(), wanted_.shape, left, packed_, out, bias, 1.0, wanted_.epilogues);
    } else {
      kernels::gemm(context.pool(), wanted_.shape, left, wanted_.weight.data(), out, bias, 1.0,
                    wanted_.epilogues);
    }
  }

 private:
  Product wanted_;
  kernels::PackedMatrix packed_;  // empty: the weights are best as they lie
};

class RecurrentRun final : public PreparedLayer {
 public:
  RecurrentRun(ops::PreparedRnn network, const ops::RecurrentCall& call)
      : network_(std::move(network)),
        batch_first_(call.batch_first),
        batch_sizes_(static_cast<size_t>(call.input->sizes()[call.sequence_dim()]),
                     call.input->sizes()[1 - call.sequence_dim()]) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           Storage&) const override {
    const bool has_cell = outputs.size() > 2;
    network_.run(context, ops::by_steps(arguments[0].tensor(), batch_first_), batch_sizes_,
                 arguments[1].tensor(), has_cell ? &arguments[2].tensor() : nullptr,
                 ops::by_steps(outputs[0], batch_first_), outputs[1], has_cell ? &outputs[2] : nullptr);
  }

 private:
  ops::PreparedRnn network_;
  bool batch_first_;
  std::vector<int64_t> batch_sizes_;
};

// Transposed convolutions of half precision are rounded as PyTorch rounds them by the operator's own kernel.
bool has_convolution(const kernels::ConvolutionShape& shape) {
  return shape.dtype == DType::kFloat32 || shape.dtype == DType::kFloat64 ||
         (!shape.transposed && (shape.dtype == DType::kFloat16 || shape.dtype == DType::kBFloat16));
}

}  // namespace

LayerPointer Portable::convolution(ops::Context& context, const Convolution& wanted) const {
  if (!has_convolution(wanted.shape)) return nullptr;
  return std::make_unique<ConvolutionRun>(
      kernels::Convolution(context.pool(), wanted.shape, wanted.weight.data(),
                           wanted.bias.defined() ? wanted.bias.data() : nullptr, wanted.epilogues));
}

LayerPointer Portable::product(ops::Context& context, const Product& wanted, PackedWeights& packed) const {
  const kernels::GemmShape& shape = wanted.shape;
  // Packed numbers of half precision would take twice the memory.
  if (shape.dtype != DType::kFloat32 && shape.dtype != DType::kFloat64) return nullptr;
  if (!kernels::prefers_packed(shape)) return std::make_unique<ProductRun>(wanted, kernels::PackedMatrix());
  return packed.with<kernels::PackedMatrix>(wanted.weight, [&](kernels::PackedMatrix& matrix) {
    if (!matrix) {
      matrix = kernels::PackedMatrix(context.pool(), kernels::PackedMatrix::Side::kRight, shape.dtype,
                                     shape.depth, shape.columns, shape.right, wanted.weight.data());
    }
    return std::make_unique<ProductRun>(wanted, matrix);
  });
}

LayerPointer Portable::recurrent(ops::Context& context, const ops::RecurrentCall& call) const {
  const bool has_projection =
      call.states.size() == 2 && call.states[0].sizes()[2] != call.states[1].sizes()[2];
  const ops::RnnShape shape{call.kind, call.has_biases, has_projection, call.layers, call.is_bidirectional};
  return std::make_unique<RecurrentRun>(ops::PreparedRnn(context, shape, call.parameters), call);
}

std::unique_ptr<const Backend> make_portable() { return std::make_unique<Portable>(); }

}  // namespace flambeau::backends
