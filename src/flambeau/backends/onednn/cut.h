// Into which parts a layer is cut. By its sizes alone, never by the number of threads: which of the library's
// loops a part gets depends on the part's sizes, and with them the order of its sums. So the same bits come
// out whoever computes the parts. Sixteen threads in mind: a part for each, or two, as even as can be; fewer
// threads have several each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/gemm/gemm.h"

namespace flambeau::backends::onednn {

constexpr size_t kHeight = 1;  // which of the sizes of space
// How many rows of the input one row of the result sees, from the first to the last.
inline int64_t reach_of(const kernels::ConvolutionShape& shape) {
  return (shape.kernel[kHeight] - 1) * shape.dilation[kHeight] + 1;
}

// Where the piece begins when `count` things are in `parts` about equal pieces.
inline int64_t cut(int64_t count, int64_t parts, int64_t index) { return count * index / parts; }

struct ProductCut {
  int64_t rows = 1;  // parts
  // Of a part, the last may have fewer. Depends on the weights alone, so that products of any number of rows
  // share their packed columns; each of them is then read by one thread.
  int64_t columns = 0;
};
constexpr int64_t kColumnStep = 48;  // the library's loops like columns by so many
constexpr int64_t kManyRows = 64;    // make up for copying the weights that they meet
ProductCut cut_product(const kernels::GemmShape& shape);

struct ConvolutionCut {
  int64_t images = 1, rows = 1;  // parts
  int64_t channels = 1;          // parts of the result's channels, whole steps of kChannelStep
};
constexpr int64_t kChannelStep = 16;  // a vector
ConvolutionCut cut_convolution(const kernels::ConvolutionShape& shape);

}  // namespace flambeau::backends::onednn
