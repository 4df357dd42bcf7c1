// Transposed convolutions: a matrix product gives, for every input pixel, what it adds to each of its
// outputs; those are then added up, a few output channels at a time.
#include <cstring>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/convolution/prepared.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels {
namespace {

template <typename T>
class Transposed : public Convolution::Prepared {
 public:
  Transposed(ThreadPool& pool, const ConvolutionShape& the_shape, const void* weights, const void* bias,
             Epilogues the_epilogues)
      : Prepared(the_shape, the_epilogues), output_(shape.output()), access_(shape.dtype) {
    const int64_t taps = shape.kernel_size();
    const int64_t outs = shape.out_channels / shape.groups;
    const int64_t ins = shape.in_channels / shape.groups;
    // Enough rows for whole panels, few enough for all threads to have some.
    constexpr int64_t kMostThreads = 16;
    const int64_t panel = (gemm_kernels<T>().rows + taps - 1) / taps;
    chunk_ = std::clamp(shape.batch * shape.out_channels / kMostThreads, panel, 4 * panel);
    chunk_ = std::min(chunk_, outs);
    chunks_ = (outs + chunk_ - 1) / chunk_;
    for (int64_t group = 0; group < shape.groups; ++group) {
      for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const int64_t first = chunk * chunk_;
        const int64_t count = std::min(chunk_, outs - first);
        const void* const from = access_.at(weights, (group * ins * outs + first) * taps);
        weights_.emplace_back(pool, PackedMatrix::Side::kLeft, shape.dtype, count * taps, ins,
                              MatrixSteps{1, outs * taps, 0}, from);
      }
    }
    bias_.resize(static_cast<size_t>(shape.out_channels), T(0));
    if (bias != nullptr) access_.load(bias, 0, 1, shape.out_channels, bias_.data());
  }

  void run(ThreadPool& pool, const void* input, void* output) const override {
    const auto count = static_cast<size_t>(shape.batch * shape.groups * chunks_);
    pool.for_each_range(count, 1, [&](size_t begin, size_t end) {
      const Scratch scratch((Size(chunk_) * shape.kernel_size() * shape.input_size() + shape.output_size()) *
                            sizeof(T));
      for (auto index = static_cast<int64_t>(begin); index < static_cast<int64_t>(end); ++index) {
        run_chunk(pool, index, input, output, scratch.as<T>());
      }
    });
  }

 private:
  void run_chunk(ThreadPool& pool, int64_t index, const void* input, void* output, T* room) const {
    const int64_t image = index / (shape.groups * chunks_);
    const int64_t group = index / chunks_ % shape.groups;
    const int64_t taps = shape.kernel_size();
    const int64_t pixels = shape.input_size();
    const int64_t outs = shape.out_channels / shape.groups;
    const int64_t ins = shape.in_channels / shape.groups;
    const bool first = shape.input_order == ImageOrder::kChannelsFirst;
    const PackedMatrix& weights = weights_[static_cast<size_t>(index % (shape.groups * chunks_))];
    const PackedOperand<T> left(weights);
    const MemoryOperand<T> right(
        MemoryOperand<T>::Side::kRight, shape.dtype,
        access_.at(input, image * shape.in_channels * pixels + group * ins * (first ? pixels : 1)),
        first ? 1 : shape.in_channels, first ? pixels : 1, 0, false);
    // Sums stay in the compute type until all are there.
    constexpr DType kOwn = own_dtype();
    const GemmProblem<T> problem = {.dtype = kOwn,
                                    .rows = weights.rows(),
                                    .columns = pixels,
                                    .depth = ins,
                                    .batch = 1,
                                    .left = &left,
                                    .right = &right,
                                    .out = room,
                                    .out_steps = {pixels, 1, 0},
                                    .addend = nullptr,
                                    .addend_steps = {},
                                    .alpha = T(1),
                                    .beta = T(0)};
    run_gemm(pool, problem);
    T* const plane = room + chunk_ * taps * pixels;
    const int64_t positions = shape.output_size();
    for (int64_t o = 0; o < weights.rows() / taps; ++o) {
      const int64_t channel = group * outs + index % chunks_ * chunk_ + o;
      std::fill_n(plane, positions, bias_[static_cast<size_t>(channel)]);
      WorkPoller poll;
      for (int64_t tap = 0; tap < taps; ++tap) {
        poll(static_cast<size_t>(pixels));
        add_tap(tap, room + (o * taps + tap) * pixels, plane);
      }
      if (shape.output_order == ImageOrder::kChannelsFirst) {
        access_.finish(epilogues, plane, positions, output,
                       (image * shape.out_channels + channel) * positions, 1);
      } else {
        access_.finish(epilogues, plane, positions, output, image * shape.out_channels * positions + channel,
                       shape.out_channels);
      }
    }
  }

  // Adds what every input pixel gives through one tap to the output plane.
  void add_tap(int64_t tap, const T* from, T* plane) const {
    const int64_t taps[] = {tap / shape.kernel[2] / shape.kernel[1], tap / shape.kernel[2] % shape.kernel[1],
                            tap % shape.kernel[2]};
    int64_t offset[3];
    for (size_t i = 0; i < 3; ++i) offset[i] = taps[i] * shape.dilation[i] - shape.padding[i];
    const ValidRange zs(offset[0], shape.stride[0], output_[0], shape.input[0]);
    const ValidRange ys(offset[1], shape.stride[1], output_[1], shape.input[1]);
    const ValidRange xs(offset[2], shape.stride[2], output_[2], shape.input[2]);
    const int64_t stride = shape.stride[2];
    for (int64_t z = zs.begin; z < zs.end; ++z) {
      for (int64_t y = ys.begin; y < ys.end; ++y) {
        const T* const row = from + (z * shape.input[1] + y) * shape.input[2];
        T* const to =
            plane +
            ((z * shape.stride[0] + offset[0]) * output_[1] + y * shape.stride[1] + offset[1]) * output_[2] +
            offset[2];
        for (int64_t x = xs.begin; x < xs.end; ++x) to[x * stride] += row[x];
      }
    }
  }

  static constexpr DType own_dtype() {
    if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
    if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
    if constexpr (std::is_same_v<T, uint64_t>) return DType::kUInt64;
    if constexpr (std::is_same_v<T, std::complex<float>>) return DType::kComplex64;
    if constexpr (std::is_same_v<T, std::complex<double>>) return DType::kComplex128;
  }

  const Spatial output_;
  RowAccess<T> access_;
  int64_t chunk_, chunks_;  // output channels of a piece, pieces of a group
  std::vector<PackedMatrix> weights_;
  std::vector<T> bias_;
};

}  // namespace

PreparedConvolution prepare_transposed(ThreadPool& pool, const ConvolutionShape& shape, const void* weights,
                                       const void* bias, Epilogues epilogues) {
  return with_product_type(shape.dtype, [&]<typename T>() -> PreparedConvolution {
    return std::make_unique<Transposed<T>>(pool, shape, weights, bias, epilogues);
  });
}

}  // namespace flambeau::kernels
