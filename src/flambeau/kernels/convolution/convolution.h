// Convolutions and transposed convolutions in one to three dimensions over plain memory, in portable C++,
// with the weights prepared once and used many times.
//
// Sums are taken in the compute type of the stored one (element.h) and rounded once, as in gemm.h. Fast at:
// float32 and float64 through the blocked matrix product, whose panels are taken straight from the image (no
// unrolled copy of it is made), 1x1 kernels (a plain product), and depthwise kernels (a loop of their own).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "flambeau/kernels/epilogue.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau {
class ThreadPool;
}

namespace flambeau::kernels {

// Depth, height and width; what a convolution of fewer dimensions lacks comes first and is neutral (size 1,
// stride 1, no padding).
using Spatial = std::array<int64_t, 3>;

// How a batch of images lies in memory, without gaps.
enum class ImageOrder : uint8_t {
  kChannelsFirst,  // batch, channel, depth, height, width
  kChannelsLast,   // batch, depth, height, width, channel
};

// Weights are [out_channels, in_channels / groups, kernel...] without gaps; of a transposed convolution
// [in_channels, out_channels / groups, kernel...].
struct ConvolutionShape {
  DType dtype = DType::kFloat32;
  bool transposed = false;
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  Spatial input = {1, 1, 1};
  Spatial kernel = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial padding = {0, 0, 0};           // before the first element and, unless said below, after the last
  Spatial padding_after = {-1, -1, -1};  // not of transposed ones; -1: as before
  Spatial dilation = {1, 1, 1};
  Spatial output_padding = {0, 0, 0};  // transposed only
  ImageOrder input_order = ImageOrder::kChannelsFirst;
  ImageOrder output_order = ImageOrder::kChannelsFirst;

  int64_t after(size_t axis) const { return padding_after[axis] < 0 ? padding[axis] : padding_after[axis]; }
  // The size of the result; zero or less where the kernel is larger than the padded input.
  Spatial output() const;
  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t output_size() const;
};

class Convolution {
 public:
  // Prepares: `weights` are packed (depthwise ones kept as they are), `bias`, one number per output channel
  // or null, is copied. Errors: kInvalidArgument for sizes that contradict each other, and for epilogues
  // behind sums that are not taken in float32.
  Convolution(ThreadPool& pool, const ConvolutionShape& shape, const void* weights, const void* bias,
              Epilogues epilogues = {});
  ~Convolution();
  Convolution(Convolution&&) noexcept;
  Convolution& operator=(Convolution&&) noexcept;

  const ConvolutionShape& shape() const;
  // Writes every element of `output`. May be called from several threads at once.
  void run(ThreadPool& pool, const void* input, void* output) const;

  struct Prepared;

 private:
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace flambeau::kernels
