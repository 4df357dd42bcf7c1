// Transposed convolutions of the small types, as PyTorch computes them where its accelerated way does not
// take them: every partial product is rounded, and so is every sum of them.
#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"

namespace flambeau::ops {
namespace {

// One channel of an image in float, rounded to a small type after every change.
class RoundedPlane {
 public:
  RoundedPlane(DType dtype, const kernels::ConvolutionShape& shape)
      : dtype_(dtype), shape_(shape), out_(shape.output()) {
    numbers_.resize(static_cast<size_t>(out_[0] * out_[1] * out_[2]));
    stored_.resize(numbers_.size());
    column_.resize(static_cast<size_t>(shape.input_size()));
  }

  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0F); }

  // Adds what one element of the kernel gives at every position of the input.
  void add_tap(const uint8_t* column, int64_t tap) {
    load_packed(dtype_, column, 2, column_.size(), DType::kFloat32, column_.data());
    const kernels::Spatial at = {tap / (shape_.kernel[1] * shape_.kernel[2]),
                                 tap / shape_.kernel[2] % shape_.kernel[1], tap % shape_.kernel[2]};
    const auto place = [&](size_t d, int64_t i) {
      return i * shape_.stride[d] - shape_.padding[d] + at[d] * shape_.dilation[d];
    };
    const float* from = column_.data();
    for (int64_t z = 0; z < shape_.input[0]; ++z) {
      for (int64_t y = 0; y < shape_.input[1]; ++y) {
        for (int64_t x = 0; x < shape_.input[2]; ++x, ++from) {
          const int64_t to_z = place(0, z), to_y = place(1, y), to_x = place(2, x);
          if (to_z < 0 || to_z >= out_[0] || to_y < 0 || to_y >= out_[1] || to_x < 0 || to_x >= out_[2])
            continue;
          numbers_[static_cast<size_t>((to_z * out_[1] + to_y) * out_[2] + to_x)] += *from;
        }
      }
    }
    round();
  }

  void add(float number) {
    for (float& value : numbers_) value += number;
    round();
  }

  void store(uint8_t* to) const {
    std::copy_n(reinterpret_cast<const uint8_t*>(stored_.data()), stored_.size() * 2, to);
  }

 private:
  void round() {
    auto* const bytes = reinterpret_cast<uint8_t*>(stored_.data());
    store_packed(DType::kFloat32, numbers_.data(), numbers_.size(), dtype_, bytes, 2);
    load_packed(dtype_, bytes, 2, numbers_.size(), DType::kFloat32, numbers_.data());
  }

  DType dtype_;
  const kernels::ConvolutionShape& shape_;
  kernels::Spatial out_;
  std::vector<float> numbers_, column_;
  std::vector<uint16_t> stored_;
};

}  // namespace

void convolve_rounded(Context& context, const kernels::ConvolutionShape& shape, const Tensor& image,
                      const Tensor& weights, const Tensor* bias, const Tensor& out) {
  const DType dtype = out.dtype();
  const int64_t ins = shape.in_channels / shape.groups;
  const int64_t outs = shape.out_channels / shape.groups;
  const int64_t taps = shape.kernel_size();
  const int64_t pixels = shape.input_size();
  const int64_t out_pixels = shape.output_size();
  const Tensor columns = context.allocate(dtype, Dims{outs * taps, pixels});
  const Tensor made = context.allocate(dtype, out.sizes());
  RoundedPlane plane(dtype, shape);
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t group = 0; group < shape.groups; ++group) {
      const Tensor left = weights.with_geometry(
          {{outs * taps, ins}, {1, outs * taps}, weights.offset() + group * ins * outs * taps});
      const Tensor right = image.with_geometry(
          {{ins, pixels}, {pixels, 1}, image.offset() + (n * shape.in_channels + group * ins) * pixels});
      multiply(context, left, right, columns);
      for (int64_t o = 0; o < outs; ++o) {
        plane.clear();
        for (int64_t tap = 0; tap < taps; ++tap) {
          plane.add_tap(columns.data() + (o * taps + tap) * pixels * 2, tap);
        }
        const int64_t channel = group * outs + o;
        if (bias != nullptr) {
          float number = 0;
          load_packed(dtype, bias->data() + channel * 2, 2, 1, DType::kFloat32, &number);
          plane.add(number);
        }
        plane.store(made.mutable_data() + (n * shape.out_channels + channel) * out_pixels * 2);
      }
    }
  }
  copy_into(context, made, out);
}

}  // namespace flambeau::ops
