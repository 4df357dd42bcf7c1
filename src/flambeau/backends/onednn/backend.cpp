// What oneDNN does better than the portable kernels: convolutions of images and products, of float32.
#include "flambeau/backends/onednn/pooled.h"
#include "flambeau/backends/portable/portable.h"
#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/size.h"

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

const float* floats(const Tensor& tensor) { return tensor.defined() ? tensor.data<float>() : nullptr; }

// Into how many parts a layer's work is cut: several for each thread, so that a slow one does not hold up the
// rest; one where handing out work would take longer than doing it. `work` counts multiplications.
int part_count(const ThreadPool& pool, Size work) {
  constexpr int64_t kLeast = int64_t{1} << 20;  // some ten microseconds
  return pool.threads() == 1 || work < kLeast ? 1 : pool.threads() * 2;
}

// Into how many calls of the library a part is cut, so that each ends within some ten milliseconds.
Size step_count(const ThreadPool& pool, Size work) {
  constexpr int64_t kMost = int64_t{1} << 29;
  return work / part_count(pool, work) / kMost + 1;
}

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
      const Size work = Size(shape.batch) * shape.output_size() * wanted.weight.element_count();
      return std::make_unique<LayerRun>(part_count(context.pool(), work), step_count(context.pool(), work),
                                        shape, floats(wanted.weight), floats(wanted.bias), wanted.epilogues);
    });
    return layer ? std::move(layer) : Portable::convolution(context, wanted);
  }

  LayerPointer product(ops::Context& context, const Product& wanted, PackedWeights& packed) const override {
    const kernels::GemmShape& shape = wanted.shape;
    if (shape.dtype != DType::kFloat32) return Portable::product(context, wanted, packed);
    LayerPointer layer = made_if_possible([&] {
      return packed.with<onednn::PackedColumns>(wanted.weight, [&](onednn::PackedColumns& columns) {
        const Size work = Size(shape.rows) * shape.columns * shape.depth;
        return std::make_unique<LayerRun>(part_count(context.pool(), work), step_count(context.pool(), work),
                                          shape, floats(wanted.weight), floats(wanted.bias), wanted.epilogues,
                                          columns);
      });
    });
    return layer ? std::move(layer) : Portable::product(context, wanted, packed);
  }
};

}  // namespace

std::unique_ptr<const Backend> make_onednn() { return std::make_unique<OneDnn>(); }

}  // namespace flambeau::backends
