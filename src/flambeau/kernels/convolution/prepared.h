// The ways to compute a convolution, chosen once when it is prepared. Inside the kernels room only.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/gemm/engine.h"

namespace flambeau::kernels {

struct Convolution::Prepared {
  Prepared(const ConvolutionShape& the_shape, Epilogues the_epilogues)
      : shape(the_shape), epilogues(the_epilogues.begin(), the_epilogues.end()) {}
  virtual ~Prepared() = default;
  virtual void run(ThreadPool& pool, const void* input, void* output) const = 0;

  const ConvolutionShape shape;
  const std::vector<Epilogue> epilogues;
};

using PreparedConvolution = std::unique_ptr<const Convolution::Prepared>;

// Every group a matrix product: weights times the image's windows, or, where channels come last in the
// result, windows times weights.
PreparedConvolution prepare_product(ThreadPool& pool, const ConvolutionShape& shape, const void* weights,
                                    const void* bias, Epilogues epilogues);
// Every input channel its own group, float and double arithmetic.
bool is_depthwise(const ConvolutionShape& shape);
PreparedConvolution prepare_depthwise(const ConvolutionShape& shape, const void* weights, const void* bias,
                                      Epilogues epilogues);
PreparedConvolution prepare_transposed(ThreadPool& pool, const ConvolutionShape& shape, const void* weights,
                                       const void* bias, Epilogues epilogues);

// Which outputs of a row meet the input: those x in [begin, end) with 0 <= x * stride + offset < size.
struct ValidRange {
  int64_t begin, end;
  ValidRange(int64_t offset, int64_t stride, int64_t size, int64_t outputs)
      : begin(std::clamp<int64_t>(offset >= 0 ? 0 : (-offset - 1) / stride + 1, 0, outputs)),
        end(std::clamp<int64_t>(offset >= size ? 0 : (size - 1 - offset) / stride + 1, begin, outputs)) {}
};

}  // namespace flambeau::kernels
