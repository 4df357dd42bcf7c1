#include "flambeau/backends/onednn/pooled.h"

#include <algorithm>

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::ConvolutionShape;
using kernels::ImageOrder;

// `count` things in about `parts` equal pieces: where the piece begins.
int64_t cut(int64_t count, int64_t parts, int64_t index) { return count * index / parts; }

constexpr size_t kHeight = 1;  // which of the sizes of space

int64_t reach(const ConvolutionShape& shape) {
  return (shape.kernel[kHeight] - 1) * shape.dilation[kHeight] + 1;
}

// The convolution that gives some rows of the result, and which row of the input it begins with.
std::pair<ConvolutionShape, int64_t> rows_of(const ConvolutionShape& shape, int64_t row, int64_t rows) {
  ConvolutionShape own = shape;
  const int64_t begin = row * shape.stride[kHeight] - shape.padding[kHeight];
  const int64_t end = begin + (rows - 1) * shape.stride[kHeight] + reach(shape);
  const int64_t first = std::max<int64_t>(0, begin);
  own.padding[kHeight] = first - begin;
  own.padding_after[kHeight] = std::max<int64_t>(0, end - shape.input[kHeight]);
  own.input[kHeight] = std::min(end, shape.input[kHeight]) - first;
  return {own, first};
}

}  // namespace

void PooledLayer::add(Layer layer, int64_t source, int64_t out) {
  poll_work();
  steps_.push_back({.layer = std::move(layer), .source = source, .out = out});
}

void PooledLayer::divide(int64_t count) {
  const auto all = static_cast<int64_t>(steps_.size());
  count = std::clamp<int64_t>(count, 1, all);
  for (int64_t i = 0; i < count; ++i) {
    const Part part = {static_cast<size_t>(cut(all, count, i)), static_cast<size_t>(cut(all, count, i + 1)),
                       scratch_bytes_};
    size_t bytes = 0;
    for (size_t step = part.begin; step < part.end; ++step)
      bytes = std::max(bytes, steps_[step].layer.scratch_bytes());
    parts_.push_back(part);
    scratch_bytes_ += (bytes + 63) & ~size_t{63};
  }
}

PooledLayer::PooledLayer(int parts, int64_t steps, const kernels::GemmShape& shape, const float* right,
                         const float* bias, kernels::Epilogues epilogues, PackedColumns& packed_columns) {
  const ThreadsScope one(1);
  const bool by_rows = shape.rows > 1;
  // Fewer rows than this leave the multipliers waiting for weights.
  constexpr int64_t kLeastRows = 16, kLeastColumns = 256;
  const int64_t along = by_rows ? shape.rows / kLeastRows : shape.columns / kLeastColumns;
  const int64_t count = std::clamp<int64_t>(along, 1, std::max(parts, 1) * std::max<int64_t>(steps, 1));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t all = by_rows ? shape.rows : shape.columns;
    const int64_t first = cut(all, count, i);
    const int64_t column = by_rows ? 0 : first;
    kernels::GemmShape own = shape;
    (by_rows ? own.rows : own.columns) = cut(all, count, i + 1) - first;
    std::vector<Weights>& same = packed_columns[{column, own.columns}];
    Layer layer = matmul(own, right + column * shape.right.column, bias == nullptr ? nullptr : bias + column,
                         epilogues, same);
    if (std::ranges::find(same, layer.weights()) == same.end()) same.push_back(layer.weights());
    add(std::move(layer), by_rows ? first * shape.left.row : 0,
        first * (by_rows ? shape.out.row : shape.out.column));
  }
  divide(steps > 1 ? parts : std::ssize(steps_));
}

PooledLayer::PooledLayer(int parts, int64_t steps, const ConvolutionShape& shape, const float* weights,
                         const float* bias, kernels::Epilogues epilogues) {
  const ThreadsScope one(1);
  const int64_t wanted = std::max(parts, 1) * std::max<int64_t>(steps, 1);
  const int64_t out_rows = shape.output()[kHeight];
  // Padding as large as the kernel would leave parts without input.
  const bool by_rows = shape.input_order == ImageOrder::kChannelsLast &&
                       shape.output_order == ImageOrder::kChannelsLast && shape.batch < wanted &&
                       std::max(shape.padding[kHeight], shape.after(kHeight)) < reach(shape);
  const int64_t cuts = by_rows ? std::min((wanted + shape.batch - 1) / shape.batch, out_rows) : 1;
  const int64_t image_parts = by_rows ? shape.batch : std::min(wanted, shape.batch);
  const int64_t in_image = shape.in_channels * shape.input_size();
  const int64_t out_image = shape.out_channels * shape.output_size();
  for (int64_t i = 0; i < image_parts; ++i) {
    const int64_t image = cut(shape.batch, image_parts, i);
    for (int64_t c = 0; c < cuts; ++c) {
      const int64_t row = cut(out_rows, cuts, c);
      auto [own, in_row] =
          cuts == 1 ? std::pair(shape, int64_t{0}) : rows_of(shape, row, cut(out_rows, cuts, c + 1) - row);
      own.batch = cut(shape.batch, image_parts, i + 1) - image;
      const std::span<const Weights> same =
          steps_.empty() ? std::span<const Weights>() : std::span(&steps_.front().layer.weights(), 1);
      add(convolution(own, weights, bias, epilogues, same),
          image * in_image + in_row * (in_image / shape.input[kHeight]),
          image * out_image + row * (out_image / out_rows));
    }
  }
  divide(steps > 1 ? parts : std::ssize(steps_));
}

void PooledLayer::run(ThreadPool& pool, const float* source, float* out, void* scratch) const {
  pool.for_each_range(parts_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Part& part = parts_[i];
      for (size_t s = part.begin; s < part.end; ++s) {
        poll_work();
        const Step& step = steps_[s];
        step.layer.run(source + step.source, out + step.out, static_cast<uint8_t*>(scratch) + part.scratch);
      }
    }
  });
}

}  // namespace flambeau::backends::onednn
