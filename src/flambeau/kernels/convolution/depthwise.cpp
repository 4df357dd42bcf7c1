// Depthwise convolutions: every output channel sees one input channel, so there is no matrix to multiply
// with.
#include "flambeau/kernels/convolution/depthwise.h"

#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/convolution/prepared.h"
#include "flambeau/kernels/gemm/scratch.h"

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
  Depthwise(const ConvolutionShape& the_shape, const void* weights, const void* bias, Epilogues the_epilogues)
      : Prepared(the_shape, the_epilogues),
        output_(shape.output()),
        access_(shape.dtype),
        kernels_(table<T>()) {
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
    // Channels first: a piece is a plane; last: a row of all channels.
    const int64_t count = shape.batch * (is_last() ? rows : shape.out_channels);
    const int64_t work = is_last() ? row_work : row_work * rows;
    const Cost cost = {.operations = 2.0 * static_cast<double>(work)};  // loads keep pace with every other
    pool.for_each_range(static_cast<size_t>(count), cost.grain(), [&](size_t begin, size_t end) {
      if (is_last()) {
        run_rows(static_cast<int64_t>(begin), static_cast<int64_t>(end), input, output);
      } else {
        run_planes(static_cast<int64_t>(begin), static_cast<int64_t>(end), input, output);
      }
    });
  }

 private:
  bool is_last() const { return shape.input_order == ImageOrder::kChannelsLast; }
  int64_t start(size_t axis, int64_t position, int64_t tap) const {
    return position * shape.stride[axis] - shape.padding[axis] + tap * shape.dilation[axis];
  }

  // A plane is copied into one with its padding around it, so that no loop has borders. With a step of one
  // from output to output the whole plane is a single row of windows; those that hang over the right edge are
  // not written out.
  void run_planes(int64_t begin, int64_t end, const void* input, void* output) const {
    const int64_t pixels = shape.input_size();
    const int64_t positions = output_[0] * output_[1] * output_[2];
    Spatial padded;
    for (size_t i = 0; i < 3; ++i) padded[i] = Size(shape.input[i]) + shape.padding[i] + shape.after(i);
    const Size padded_size = Size(padded[0]) * padded[1] * padded[2];
    const bool whole = shape.stride == Spatial{1, 1, 1};
    const Size reach = whole ? (Size(output_[0] - 1) * padded[1] + output_[1] - 1) * padded[2] + output_[2]
                             : Size(output_[2]);
    // Rows are short: where nothing is read from them first, they are finished together.
    const bool together = access_.same() && !has_sum(epilogues);
    const Epilogues by_rows = together ? Epilogues() : Epilogues(epilogues);
    std::vector<int64_t> offsets;
    for (int64_t tap = 0; tap < shape.kernel_size(); ++tap) {
      const int64_t z = tap / shape.kernel[2] / shape.kernel[1] * shape.dilation[0];
      const int64_t y = tap / shape.kernel[2] % shape.kernel[1] * shape.dilation[1];
      offsets.push_back((z * padded[1] + y) * padded[2] + tap % shape.kernel[2] * shape.dilation[2]);
    }
    const Scratch scratch((padded_size + reach) * sizeof(T));
    T* const plane = scratch.as<T>();
    T* const sums = plane + padded_size;
    std::fill_n(plane, padded_size.value(), T(0));  // the padding stays, whatever is copied into the middle
    for (int64_t index = begin; index < end; ++index) {
      const int64_t channel = index % shape.out_channels;
      const int64_t in_channel = channel / (shape.out_channels / shape.in_channels);
      const int64_t first = (index / shape.out_channels * shape.in_channels + in_channel) * pixels;
      for (int64_t z = 0; z < shape.input[0]; ++z) {
        for (int64_t y = 0; y < shape.input[1]; ++y) {
          access_.load(input, first + (z * shape.input[1] + y) * shape.input[2], 1, shape.input[2],
                       plane + ((z + shape.padding[0]) * padded[1] + y + shape.padding[1]) * padded[2] +
                           shape.padding[2]);
        }
      }
      const T* const weights = weights_.data() + channel * shape.kernel_size();
      const T bias = bias_[static_cast<size_t>(channel)];
      const auto taps = static_cast<int64_t>(offsets.size());
      // Pieces of some milliseconds, so that a plane of any size can be stopped.
      const int64_t step =
          std::max<int64_t>(4096, (int64_t{1} << 24) / std::max<int64_t>(taps, 1) & ~int64_t{63});
      for (int64_t at = 0; whole && at < reach; at += step) {
        poll_work();
        kernels_.along_space(plane + at, offsets.data(), weights, taps, 1, bias,
                             std::min(step, reach.value() - at), sums + at);
      }
      WorkPoller poll;
      for (int64_t z = 0; z < output_[0]; ++z) {
        for (int64_t y = 0; y < output_[1]; ++y) {
          poll(static_cast<size_t>(output_[2] * (whole ? 1 : taps)));
          const int64_t from = (z * shape.stride[0] * padded[1] + y * shape.stride[1]) * padded[2];
          if (!whole) {
            kernels_.along_space(plane + from, offsets.data(), weights, taps, shape.stride[2], bias, reach,
                                 sums);
          }
          access_.finish(by_rows, whole ? sums + from : sums, output_[2], output,
                         index * positions + (z * output_[1] + y) * output_[2], 1);
        }
      }
      if constexpr (std::is_same_v<T, float>) {
        T* const out = static_cast<T*>(output) + index * positions;
        if (together) apply(epilogues, out, nullptr, static_cast<size_t>(positions));
      }
    }
  }

  void run_rows(int64_t begin, int64_t end, const void* input, void* output) const {
    const auto most = static_cast<size_t>(shape.kernel_size());
    std::vector<const T*> from(most), weights(most);
    const bool convert = !access_.same();
    const int64_t channels = shape.out_channels;
    const Scratch scratch(Size(convert ? most + 1 : 1) * channels * sizeof(T));
    T* const sums = scratch.as<T>();
    T* const converted = sums + channels;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t y = index % output_[1];
      const int64_t z = index / output_[1] % output_[0];
      const int64_t image = index / output_[1] / output_[0];
      WorkPoller poll;
      for (int64_t x = 0; x < output_[2]; ++x) {
        poll(most * static_cast<size_t>(channels));
        size_t taps = 0;
        const T* weight = weights_.data();
        for (int64_t kz = 0; kz < shape.kernel[0]; ++kz) {
          for (int64_t ky = 0; ky < shape.kernel[1]; ++ky) {
            for (int64_t kx = 0; kx < shape.kernel[2]; ++kx, weight += channels) {
              const int64_t in_z = start(0, z, kz), in_y = start(1, y, ky), in_x = start(2, x, kx);
              if (in_z < 0 || in_z >= shape.input[0] || in_y < 0 || in_y >= shape.input[1] || in_x < 0 ||
                  in_x >= shape.input[2]) {
                continue;
              }
              const int64_t pixel =
                  ((image * shape.input[0] + in_z) * shape.input[1] + in_y) * shape.input[2] + in_x;
              if (convert) {
                T* const row = converted + static_cast<int64_t>(taps) * channels;
                access_.load(input, pixel * channels, 1, channels, row);
                from[taps] = row;
              } else {
                from[taps] = static_cast<const T*>(input) + pixel * channels;
              }
              weights[taps++] = weight;
            }
          }
        }
        const int64_t place = (index * output_[2] + x) * channels;
        const bool in_place = !convert && epilogues.empty();
        T* const to = in_place ? static_cast<T*>(output) + place : sums;
        kernels_.along_channels(from.data(), weights.data(), static_cast<int64_t>(taps), bias_.data(),
                                channels, to);
        if (!in_place) access_.finish(epilogues, sums, channels, output, place, 1);
      }
    }
  }

  const Spatial output_;
  RowAccess<T> access_;
  const DepthwiseKernels<T>& kernels_;
  std::vector<T> weights_, bias_;
};

// Many filters over one channel are a matrix, and better taken as one where the loop along a row cannot use
// vectors: rows are short, or far apart.
bool are_rows_of_a_matrix(const ConvolutionShape& shape) {
  constexpr int64_t kManyFilters = 8;
  constexpr int64_t kShortRow = 16;
  if (shape.out_channels / shape.groups < kManyFilters) return false;
  if (shape.stride == Spatial{1, 1, 1}) return shape.output_size() < kShortRow;
  return shape.stride[2] > 2 || shape.output()[2] < kShortRow;
}

}  // namespace

bool is_depthwise(const ConvolutionShape& shape) {
  const Compute compute = compute_type(shape.dtype);
  if (compute != Compute::kFloat && compute != Compute::kDouble) return false;
  if (shape.groups != shape.in_channels || shape.input_order != shape.output_order) return false;
  if (are_rows_of_a_matrix(shape)) return false;
  return shape.input_order == ImageOrder::kChannelsFirst || shape.out_channels == shape.in_channels;
}

PreparedConvolution prepare_depthwise(const ConvolutionShape& shape, const void* weights, const void* bias,
                                      Epilogues epilogues) {
  if (compute_type(shape.dtype) == Compute::kDouble)
    return std::make_unique<Depthwise<double>>(shape, weights, bias, epilogues);
  return std::make_unique<Depthwise<float>>(shape, weights, bias, epilogues);
}

}  // namespace flambeau::kernels
