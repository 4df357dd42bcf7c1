// What oneDNN does better than the portable kernels: convolutions of images and products, of float32.
#include "flambeau/backends/onednn/pooled.h"
#include "flambeau/backends/portable/portable.h"
#include "flambeau/base/error.h"

namespace flambeau::backends {
namespace {

using kernels::ImageOrder;

class LayerRun final : public PreparedLayer {
 public:
  template <typename... Arguments>
  explicit LayerRun(Arguments&&... arguments) : layer_(std::forward<Arguments>(arguments)...) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           Storage& scratch) const override {
    layer_.run(context.pool(), arguments[0].tensor().data<float>(), outputs[0].mutable_data<float>(),
               scratch.mutable_bytes().data());
  }
  size_t scratch_bytes() const override { return layer_.scratch_bytes(); }

 private:
  onednn::PooledLayer layer_;
};

// Products narrower than a vector oneDNN adds up one after the other, so that their error grows with the
// depth: twice PyTorch's at a thousand. The portable ones take such sums in parts.
constexpr int64_t kLeastColumns = 17;

const float* floats(const Tensor& tensor) { return tensor.defined() ? tensor.data<float>() : nullptr; }

// What `make` gives; null where the library has no such layer.
template <typename Make>
LayerPointer made_if_possible(Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported && error.code() != ErrorCode::kInvalidArgument) throw;
    return nullptr;
  }
}

class OneDnn final : public Portable {
 public:
  std::string_view name() const override { return "onednn"; }

  ImageOrder image_order(const ops::ConvolutionCall& call) const override {
    return call.input->dtype() == DType::kFloat32 && call.input->dim() == 4 && !call.is_transposed
               ? ImageOrder::kChannelsLast
               : ImageOrder::kChannelsFirst;
  }

  LayerPointer convolution(ops::Context& context, const Convolution& wanted) const override {
    const kernels::ConvolutionShape& shape = wanted.shape;
    if (shape.dtype != DType::kFloat32 || wanted.space != 2 || shape.transposed)
      return Portable::convolution(context, wanted);
    LayerPointer layer = made_if_possible([&] {
      return std::make_unique<LayerRun>(shape, floats(wanted.weight), floats(wanted.bias), wanted.epilogues);
    });
    return layer ? std::move(layer) : Portable::convolution(context, wanted);
  }

  LayerPointer product(ops::Context& context, const Product& wanted, PackedWeights& packed) const override {
    const kernels::GemmShape& shape = wanted.shape;
    if (shape.dtype != DType::kFloat32 || shape.columns < kLeastColumns)
      return Portable::product(context, wanted, packed);
    LayerPointer layer = made_if_possible([&] {
      return packed.with<onednn::PackedColumns>(wanted.weight, [&](onednn::PackedColumns& columns) {
        return std::make_unique<LayerRun>(shape, floats(wanted.weight), floats(wanted.bias), wanted.epilogues,
                                          columns);
      });
    });
    return layer ? std::move(layer) : Portable::product(context, wanted, packed);
  }
};

}  // namespace

std::unique_ptr<const Backend> make_onednn() { return std::make_unique<OneDnn>(); }

}  // namespace flambeau::backends
