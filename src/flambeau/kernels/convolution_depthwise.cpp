// Depthwise convolutions: every output channel sees one input channel, so there is no matrix to multiply
// with.
#include "flambeau/kernels/convolution_depthwise.h"

#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/kernels/convolution_prepared.h"
#include "flambeau/kernels/gemm_scratch.h"

namespace flambeau::kernels {
namespace {

template <typename T>
const DepthwiseKernels<T>& table() {
  if constexpr (std::is_same_v<T, float>) {
    return FLAMBEAU_PICK(float_depthwise)();
  } else {
    return FLAMBEAU_PICK(double_depthwise)();
  }
}

template <typename T>
class Depthwise : public Convolution::Prepared {
 public:
  Depthwise(const ConvolutionShape& the_shape, const void* weights, const void* bias)
      : Prepared(the_shape), output_(shape.output()), access_(shape.dtype), kernels_(table<T>()) {
    const int64_t taps = shape.kernel_size();
    weights_.resize(static_cast<size_t>(shape.out_channels * taps));
    access_.load(weights, 0, 1, shape.out_channels * taps, weights_.data());
    if (is_last()) {  // tap by tap, channels together
      const std::vector<T> channel_by_channel = weights_;
      for (int64_t c = 0; c < shape.out_channels; ++c) {
        for (int64_t t = 0; t < taps; ++t) {
          weights_[static_cast<size_t>(t * shape.out_channels + c)] =
              channel_by_channel[static_cast<size_t>(c * taps + t)];
        }
      }
    }
    bias_.resize(static_cast<size_t>(shape.out_channels), T(0));
    if (bias != nullptr) access_.load(bias, 0, 1, shape.out_channels, bias_.data());
  }

  void run(ThreadPool& pool, const void* input, void* output) const override {
    const int64_t row_work = output_[2] * shape.kernel_size() * (is_last() ? shape.out_channels : 1);
    const int64_t rows = output_[0] * output_[1];
    // Channels first: a piece is a plane, whose input may have to be converted; last: a row of all channels.
    const int64_t count = shape.batch * (is_last() ? rows : shape.out_channels);
    const int64_t work = is_last() ? row_work : row_work * rows;
    const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(work, 1));
    pool.for_each_range(
        static_cast<size_t>(count), static_cast<size_t>(grain), [&](size_t begin, size_t end) {
          const bool convert = !access_.same();
          const int64_t converted = convert ? (is_last() ? shape.in_channels : shape.input_size()) : 0;
          const Scratch scratch(static_cast<size_t>(output_[2] + shape.out_channels + converted) * sizeof(T));
          T* const room = scratch.as<T>();
          for (auto index = static_cast<int64_t>(begin); index < static_cast<int64_t>(end); ++index) {
            if (is_last()) {
              run_row(index, input, output, room);
            } else {
              run_plane(index, input, output, room);
            }
          }
        });
  }

 private:
  bool is_last() const { return shape.input_order == ImageOrder::kChannelsLast; }
  int64_t outs_per_channel() const { return shape.out_channels / shape.in_channels; }
  int64_t start(size_t axis, int64_t position, int64_t tap) const {
    return position * shape.stride[axis] - shape.padding[axis] + tap * shape.dilation[axis];
  }

  void run_plane(int64_t index, const void* input, void* output, T* room) const {
    const int64_t image = index / shape.out_channels;
    const int64_t channel = index % shape.out_channels;
    const int64_t pixels = shape.input_size();
    const int64_t first = (image * shape.in_channels + channel / outs_per_channel()) * pixels;
    const T* plane = static_cast<const T*>(input) + first;
    if (!access_.same()) {
      T* const converted = room + output_[2];
      access_.load(input, first, 1, pixels, converted);
      plane = converted;
    }
    const T* const weights = weights_.data() + channel * shape.kernel_size();
    for (int64_t z = 0; z < output_[0]; ++z) {
      for (int64_t y = 0; y < output_[1]; ++y) {
        const int64_t place = ((image * shape.out_channels + channel) * output_[0] + z) * output_[1] + y;
        T* const row = access_.same() ? static_cast<T*>(output) + place * output_[2] : room;
        std::fill_n(row, output_[2], bias_[static_cast<size_t>(channel)]);
        for (int64_t kz = 0; kz < shape.kernel[0]; ++kz) {
          const int64_t in_z = start(0, z, kz);
          if (in_z < 0 || in_z >= shape.input[0]) continue;
          for (int64_t ky = 0; ky < shape.kernel[1]; ++ky) {
            const int64_t in_y = start(1, y, ky);
            if (in_y < 0 || in_y >= shape.input[1]) continue;
            add_row(plane + (in_z * shape.input[1] + in_y) * shape.input[2],
                    weights + (kz * shape.kernel[1] + ky) * shape.kernel[2], row);
          }
        }
        if (!access_.same()) access_.store(row, output_[2], output, place * output_[2], 1);
      }
    }
  }

  // The outputs that meet the input with every tap go through the vector loop, those at the borders one by
  // one.
  void add_row(const T* from, const T* weights, T* to) const {
    const int64_t taps = shape.kernel[2];
    const int64_t stride = shape.stride[2];
    const ValidRange left(start(2, 0, 0), stride, shape.input[2], output_[2]);
    const ValidRange right(start(2, 0, taps - 1), stride, shape.input[2], output_[2]);
    const int64_t begin = std::max(left.begin, right.begin);
    const int64_t end = std::max(begin, std::min(left.end, right.end));
    const auto at_border = [&](int64_t x) {
      for (int64_t k = 0; k < taps; ++k) {
        const int64_t in_x = start(2, x, k);
        if (in_x >= 0 && in_x < shape.input[2]) to[x] += weights[k] * from[in_x];
      }
    };
    for (int64_t x = 0; x < begin; ++x) at_border(x);
    kernels_.add_row(from + start(2, begin, 0), stride, shape.dilation[2], weights, taps, end - begin,
                     to + begin);
    for (int64_t x = end; x < output_[2]; ++x) at_border(x);
  }

  void run_row(int64_t index, const void* input, void* output, T* sums) const {
    const int64_t y = index % output_[1];
    const int64_t z = index / output_[1] % output_[0];
    const int64_t image = index / output_[1] / output_[0];
    T* const converted = sums + shape.out_channels;
    for (int64_t x = 0; x < output_[2]; ++x) {
      std::copy_n(bias_.data(), shape.out_channels, sums);
      const T* weights = weights_.data();
      for (int64_t kz = 0; kz < shape.kernel[0]; ++kz) {
        for (int64_t ky = 0; ky < shape.kernel[1]; ++ky) {
          for (int64_t kx = 0; kx < shape.kernel[2]; ++kx, weights += shape.out_channels) {
            const int64_t in_z = start(0, z, kz), in_y = start(1, y, ky), in_x = start(2, x, kx);
            if (in_z < 0 || in_z >= shape.input[0] || in_y < 0 || in_y >= shape.input[1] || in_x < 0 ||
                in_x >= shape.input[2]) {
              continue;
            }
            const int64_t pixel =
                ((image * shape.input[0] + in_z) * shape.input[1] + in_y) * shape.input[2] + in_x;
            const T* from = static_cast<const T*>(input) + pixel * shape.in_channels;
            if (!access_.same()) {
              access_.load(input, pixel * shape.in_channels, 1, shape.in_channels, converted);
              from = converted;
            }
            kernels_.add_product(from, weights, shape.out_channels, sums);
          }
        }
      }
      access_.store(sums, shape.out_channels, output, (index * output_[2] + x) * shape.out_channels, 1);
    }
  }

  const Spatial output_;
  RowAccess<T> access_;
  const DepthwiseKernels<T>& kernels_;
  std::vector<T> weights_, bias_;
};

}  // namespace

bool is_depthwise(const ConvolutionShape& shape) {
  const Compute compute = compute_type(shape.dtype);
  if (compute != Compute::kFloat && compute != Compute::kDouble) return false;
  if (shape.groups != shape.in_channels || shape.input_order != shape.output_order) return false;
  return shape.input_order == ImageOrder::kChannelsFirst || shape.out_channels == shape.in_channels;
}

PreparedConvolution prepare_depthwise(const ConvolutionShape& shape, const void* weights, const void* bias) {
  if (compute_type(shape.dtype) == Compute::kDouble)
    return std::make_unique<Depthwise<double>>(shape, weights, bias);
  return std::make_unique<Depthwise<float>>(shape, weights, bias);
}

}  // namespace flambeau::kernels
