#include "flambeau/kernels/convolution/convolution.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/size.h"
#include "flambeau/kernels/convolution/prepared.h"

namespace flambeau::kernels {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::kInvalidArgument, message); }

void check(const ConvolutionShape& shape) {
  if (shape.groups < 1 || shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    refuse(fmt::format("{} input and {} output channels cannot be shared out among {} groups",
                       shape.in_channels, shape.out_channels, shape.groups));
  }
  for (size_t i = 0; i < 3; ++i) {
    if (shape.kernel[i] < 1 || shape.stride[i] < 1 || shape.dilation[i] < 1 || shape.padding[i] < 0) {
      refuse(fmt::format(
          "a convolution with kernel {}, stride {}, dilation {} and padding {}; expected at least "
          "1, 1, 1 and 0",
          shape.kernel[i], shape.stride[i], shape.dilation[i], shape.padding[i]));
    }
  }
  const Spatial output = shape.output();
  for (size_t i = 0; i < 3; ++i) {
    if (output[i] < 1) {
      refuse(fmt::format("a kernel of {} (dilation {}) does not fit into an input of {} with padding {}",
                         shape.kernel[i], shape.dilation[i], shape.input[i], shape.padding[i]));
    }
  }
}

// The same convolution, without steps as large as numbers go that nothing follows: a stride where there is
// one position, a dilation where there is one tap.
ConvolutionShape with_bounded_steps(ConvolutionShape shape) {
  const Spatial output = shape.output();
  for (size_t i = 0; i < 3; ++i) {
    if (shape.kernel[i] == 1) shape.dilation[i] = 1;
    if (shape.transposed) {
      if (shape.input[i] == 1) shape.stride[i] = 1;
    } else if (output[i] == 1) {
      const Size reach = Size(shape.dilation[i]) * (shape.kernel[i] - 1) + 1;
      shape.stride[i] = Size(shape.input[i]) + shape.padding[i] + shape.after(i) - reach + 1;
    }
  }
  return shape;
}

}  // namespace

Spatial ConvolutionShape::output() const {
  Spatial result;
  for (size_t i = 0; i < 3; ++i) {
    const Size reach = Size(dilation[i]) * (kernel[i] - 1) + 1;
    if (transposed) {
      result[i] = (Size(input[i]) - 1) * stride[i] - 2 * Size(padding[i]) + reach + output_padding[i];
    } else {
      const Size room = Size(input[i]) + padding[i] + after(i) - reach;
      result[i] = room < 0 ? Size(0) : room / stride[i] + 1;
    }
  }
  return result;
}

int64_t ConvolutionShape::output_size() const {
  const Spatial sizes = output();
  return Size(sizes[0]) * sizes[1] * sizes[2];
}

Convolution::Convolution(ThreadPool& pool, const ConvolutionShape& given, const void* weights,
                         const void* bias, Epilogues epilogues) {
  check(given);
  require_float(given.dtype, epilogues);
  const ConvolutionShape shape = with_bounded_steps(given);
  if (shape.transposed) {
    prepared_ = prepare_transposed(pool, shape, weights, bias, epilogues);
  } else if (is_depthwise(shape)) {
    prepared_ = prepare_depthwise(shape, weights, bias, epilogues);
  } else {
    prepared_ = prepare_product(pool, shape, weights, bias, epilogues);
  }
}

Convolution::~Convolution() = default;
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution& Convolution::operator=(Convolution&&) noexcept = default;

const ConvolutionShape& Convolution::shape() const { return prepared_->shape; }

void Convolution::run(ThreadPool& pool, const void* input, void* output) const {
  if (shape().batch == 0) return;
  prepared_->run(pool, input, output);
}

}  // namespace flambeau::kernels
