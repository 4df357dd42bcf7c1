#include "flambeau/backends/onednn/pooled.h"

#include <algorithm>

#include "flambeau/backends/onednn/cut.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::ConvolutionShape;

// The convolution that gives some rows of the result, and which row of the input it begins with.
std::pair<ConvolutionShape, int64_t> rows_of(const ConvolutionShape& shape, int64_t row, int64_t rows) {
  ConvolutionShape own = shape;
  const int64_t begin = row * shape.stride[kHeight] - shape.padding[kHeight];
  const int64_t end = begin + (rows - 1) * shape.stride[kHeight] + reach_of(shape);
  const int64_t first = std::max<int64_t>(0, begin);
  own.padding[kHeight] = first - begin;
  own.padding_after[kHeight] = std::max<int64_t>(0, end - shape.input[kHeight]);
  own.input[kHeight] = std::min(end, shape.input[kHeight]) - first;
  return {own, first};
}

}  // namespace

void PooledLayer::add(Part part) {
  poll_work();
  const auto reserve = [&](size_t bytes) {
    const size_t begin = scratch_bytes_;
    scratch_bytes_ += (bytes + 63) & ~size_t{63};
    return begin;
  };
  part.scratch = reserve(part.layer.scratch_bytes());
  part.own = reserve(static_cast<size_t>(part.pixels * part.channels) * sizeof(float));
  parts_.push_back(std::move(part));
}

PooledLayer::PooledLayer(const kernels::GemmShape& shape, const float* right, const float* bias,
                         kernels::Epilogues epilogues, PackedColumns& packed_columns)
    : pixel_step_(shape.out.row), reads_out_(has_sum(epilogues)) {
  const ThreadsScope one(1);
  const ProductCut cuts = cut_product(shape);
  // Parts with the same columns of the weights follow each other: a thread takes them together.
  for (int64_t column = 0; column < shape.columns; column += cuts.columns) {
    for (int64_t i = 0; i < cuts.rows; ++i) {
      const int64_t row = cut(shape.rows, cuts.rows, i);
      kernels::GemmShape own = shape;
      own.rows = cut(shape.rows, cuts.rows, i + 1) - row;
      own.columns = std::min(cuts.columns, shape.columns - column);
      // For results with gaps the library copies the weights of a part first, which a few rows do not pay
      // for.
      const bool is_apart = own.rows > 1 && own.rows < kManyRows && own.columns > kColumnStep &&
                            own.columns < shape.columns && shape.out.column == 1;
      if (is_apart) own.out = kernels::MatrixSteps::packed(own.rows, own.columns);
      std::vector<Weights>& same = packed_columns[{column, own.columns}];
      Part part{.layer = matmul(own, right + column * shape.right.column,
                                bias == nullptr ? nullptr : bias + column, epilogues, same),
                .source = row * shape.left.row,
                .out = row * shape.out.row + column * shape.out.column};
      if (is_apart) {
        part.pixels = own.rows;
        part.channels = own.columns;
      }
      part.layer.share_weights(same);
      add(std::move(part));
    }
  }
}

PooledLayer::PooledLayer(const ConvolutionShape& shape, const float* weights, const float* bias,
                         kernels::Epilogues epilogues)
    : pixel_step_(shape.out_channels), reads_out_(has_sum(epilogues)) {
  const ThreadsScope one(1);
  const ConvolutionCut cuts = cut_convolution(shape);
  const int64_t out_rows = shape.output()[kHeight];
  const int64_t in_image = shape.in_channels * shape.input_size();
  const int64_t out_image = shape.out_channels * shape.output_size();
  const int64_t filter = shape.in_channels / shape.groups * shape.kernel_size();
  for (int64_t c = 0; c < cuts.channels; ++c) {
    const int64_t steps = shape.out_channels / kChannelStep;
    const int64_t channel = cuts.channels == 1 ? 0 : cut(steps, cuts.channels, c) * kChannelStep;
    std::vector<Weights> same;  // of these channels
    for (int64_t i = 0; i < cuts.images; ++i) {
      const int64_t image = cut(shape.batch, cuts.images, i);
      for (int64_t r = 0; r < cuts.rows; ++r) {
        const int64_t row = cut(out_rows, cuts.rows, r);
        auto [own, in_row] = cuts.rows == 1 ? std::pair(shape, int64_t{0})
                                            : rows_of(shape, row, cut(out_rows, cuts.rows, r + 1) - row);
        own.batch = cut(shape.batch, cuts.images, i + 1) - image;
        if (cuts.channels > 1) own.out_channels = cut(steps, cuts.channels, c + 1) * kChannelStep - channel;
        Part part{.layer = convolution(own, weights + channel * filter,
                                       bias == nullptr ? nullptr : bias + channel, epilogues, same),
                  .source = image * in_image + in_row * (in_image / shape.input[kHeight]),
                  .out = image * out_image + row * (out_image / out_rows) + channel};
        if (cuts.channels > 1) {
          part.pixels = own.batch * own.output_size();
          part.channels = own.out_channels;
        }
        part.layer.share_weights(same);
        add(std::move(part));
      }
    }
  }
}

void PooledLayer::run(const Part& part, const float* source, float* out, uint8_t* scratch) const {
  if (part.channels == 0) return part.layer.run(source + part.source, out + part.out, scratch + part.scratch);
  auto* const own = reinterpret_cast<float*>(scratch + part.own);
  float* const to = out + part.out;
  if (reads_out_) {
    for (int64_t i = 0; i < part.pixels; ++i)
      std::copy_n(to + i * pixel_step_, part.channels, own + i * part.channels);
  }
  part.layer.run(source + part.source, own, scratch + part.scratch);
  for (int64_t i = 0; i < part.pixels; ++i)
    std::copy_n(own + i * part.channels, part.channels, to + i * pixel_step_);
}

void PooledLayer::run(ThreadPool& pool, const float* source, float* out, void* scratch) const {
  pool.for_each_range(parts_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      poll_work();
      run(parts_[i], source, out, static_cast<uint8_t*>(scratch));
    }
  });
}

}  // namespace flambeau::backends::onednn
