#include "flambeau/kernels/onednn/pooled.h"

#include <algorithm>
#include <tuple>

#include "flambeau/base/parallel.h"

namespace flambeau::kernels::onednn {
namespace {

// `count` things in about `parts` equal pieces: where the piece begins.
int64_t cut(int64_t count, int64_t parts, int64_t index) { return count * index / parts; }

bool has_operand(const PostOp& post) {
  return post.kind == PostOp::Kind::kAdd || post.kind == PostOp::Kind::kMultiply;
}

int64_t elements(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;
  return result;
}

float* at(void* scratch, size_t offset) {
  return reinterpret_cast<float*>(static_cast<uint8_t*>(scratch) + offset);
}

std::vector<int64_t> with_rows(std::vector<int64_t> sizes, int64_t batch, int64_t rows) {
  sizes[0] = batch;
  sizes[2] = rows;
  return sizes;
}

// Operands either stay (one image, no space: a number per channel) or lie as the result does and are cut with
// it.
bool can_cut(std::span<const PostOp> post, const Layout& out) {
  for (const PostOp& operation : post) {
    if (!has_operand(operation) || operation.operand == out) continue;
    std::vector<int64_t> sizes = operation.operand.sizes();
    if (sizes.size() < 2 || elements(sizes) != sizes[1]) return false;
  }
  return true;
}

}  // namespace

std::vector<const float*> Parts::operands_at(std::span<const float* const> operands,
                                             int64_t out_offset) const {
  std::vector<const float*> result(operands.begin(), operands.end());
  for (size_t i = 0; i < result.size() && i < moves_.size(); ++i) {
    if (moves_[i]) result[i] += out_offset;
  }
  return result;
}

void Parts::add_scratch(size_t bytes) {
  scratch_.push_back(scratch_bytes_);
  scratch_bytes_ += (bytes + 63) & ~size_t{63};
}

PooledMatmul::PooledMatmul(int parts, const MatmulShape& shape, const float* right, const float* bias,
                           std::span<const PostOp> post, PackedColumns* packed) {
  const ThreadsScope one(1);
  PackedColumns own_packed;
  PackedColumns& all_packed = packed != nullptr ? *packed : own_packed;
  bool plain = true;  // operands make the cut harder than it is worth
  for (const PostOp& operation : post) plain = plain && !has_operand(operation);
  const int64_t wanted = plain ? std::max(parts, 1) : 1;
  const bool by_batch = shape.batch >= wanted;
  const bool by_rows = !by_batch && shape.rows > 1;
  // Fewer rows than this leave the multipliers waiting for weights.
  constexpr int64_t kLeastRows = 16, kLeastColumns = 256;
  const int64_t along = by_batch  ? shape.batch
                        : by_rows ? shape.rows / kLeastRows
                                  : shape.columns / kLeastColumns;
  const int64_t count = std::clamp<int64_t>(along, 1, wanted);
  for (int64_t i = 0; i < count; ++i) {
    const auto part_of = [&](int64_t all) { return cut(all, count, i + 1) - cut(all, count, i); };
    MatmulShape own = shape;
    int64_t left_at = 0, right_at = 0, out_at = 0, column = 0;
    const float* own_bias = bias;
    if (by_batch) {
      const int64_t first = cut(shape.batch, count, i);
      own.batch = part_of(shape.batch);
      left_at = first * shape.left.batch, right_at = first * shape.right.batch,
      out_at = first * shape.out.batch;
    } else if (by_rows) {
      const int64_t first = cut(shape.rows, count, i);
      own.rows = part_of(shape.rows);
      left_at = first * shape.left.row, out_at = first * shape.out.row;
    } else {
      const int64_t first = column = cut(shape.columns, count, i);
      own.columns = part_of(shape.columns);
      right_at = first * shape.right.column, out_at = first * shape.out.column;
      if (bias != nullptr) own_bias += first;
    }
    std::vector<Weights>& same = all_packed[{column, own.columns}];
    Matmul layer(own, right == nullptr ? nullptr : right + right_at, own_bias, post, same);
    const auto has_layout = [&](const Weights& other) { return other.layout() == layer.weights().layout(); };
    if (layer.weights() && std::ranges::none_of(same, has_layout)) same.push_back(layer.weights());
    add_scratch(layer.scratch_bytes());
    parts_.push_back({.layer = std::move(layer), .left = left_at, .right = right_at, .out = out_at});
  }
}

void PooledMatmul::run(ThreadPool& pool, const float* left, const float* right, float* out, void* scratch,
                       std::span<const float* const> operands) const {
  pool.for_each_range(parts_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Part& part = parts_[i];
      part.layer.run(left + part.left, right == nullptr ? nullptr : right + part.right, out + part.out,
                     at(scratch, scratch_[i]), operands);
    }
  });
}

PooledConvolution::PooledConvolution(int parts, const ConvolutionShape& shape, const Layout& source,
                                     const Layout& out, const float* weights, const float* bias,
                                     std::span<const PostOp> post) {
  const ThreadsScope one(1);
  std::tie(source_, out_) = ConvolutionLayer::choose(shape, source, out, post);
  const std::vector<int64_t> in_sizes = source_.sizes(), out_sizes = out_.sizes();
  const bool last = source_ == Layout::channels_last(in_sizes) && out_ == Layout::channels_last(out_sizes);
  const bool first = source_ == Layout::plain(in_sizes) && out_ == Layout::plain(out_sizes);
  const int64_t wanted = (last || first) && can_cut(post, out_) ? std::max(parts, 1) : 1;
  // Rows are the outermost dimension of space that the layout has.
  const size_t axis = 5 - in_sizes.size();
  // Padding as large as the kernel would leave parts without input.
  const bool by_rows =
      last && !shape.transposed && shape.batch < wanted &&
      std::max(shape.padding[axis], shape.after(axis)) < (shape.kernel[axis] - 1) * shape.dilation[axis] + 1;
  const int64_t cuts = by_rows ? std::min((wanted + shape.batch - 1) / shape.batch, out_sizes[2]) : 1;
  const int64_t image_parts = by_rows ? shape.batch : std::min<int64_t>(wanted, shape.batch);
  for (const PostOp& operation : post) {
    if (has_operand(operation)) moves_.push_back(operation.operand == out_);
  }
  const bool whole = cuts * image_parts == 1;
  const int64_t in_row = elements(in_sizes) / in_sizes[0] / in_sizes[2];
  const int64_t out_row = elements(out_sizes) / out_sizes[0] / out_sizes[2];
  for (int64_t i = 0; i < image_parts; ++i) {
    const int64_t image = cut(shape.batch, image_parts, i);
    for (int64_t c = 0; c < cuts; ++c) {
      ConvolutionShape own = shape;
      own.batch = cut(shape.batch, image_parts, i + 1) - image;
      const int64_t row = cut(out_sizes[2], cuts, c);
      const int64_t rows = cut(out_sizes[2], cuts, c + 1) - row;
      int64_t in_begin = 0, in_end = in_sizes[2];
      if (cuts > 1) {
        const int64_t reach = (shape.kernel[axis] - 1) * shape.dilation[axis] + 1;
        in_begin = row * shape.stride[axis] - shape.padding[axis];
        in_end = in_begin + (rows - 1) * shape.stride[axis] + reach;
        own.padding[axis] = std::max<int64_t>(0, -in_begin);
        own.padding_after[axis] = std::max<int64_t>(0, in_end - in_sizes[2]);
        in_begin = std::max<int64_t>(0, in_begin), in_end = std::min(in_end, in_sizes[2]);
        own.input[axis] = in_end - in_begin;
      }
      const std::vector<int64_t> own_in = with_rows(in_sizes, own.batch, in_end - in_begin);
      const std::vector<int64_t> own_out = with_rows(out_sizes, own.batch, rows);
      const Layout own_in_layout = whole  ? source_
                                   : last ? Layout::channels_last(own_in)
                                          : Layout::plain(own_in);
      const Layout own_out_layout = whole  ? out_
                                    : last ? Layout::channels_last(own_out)
                                           : Layout::plain(own_out);
      std::vector<PostOp> own_post(post.begin(), post.end());
      for (PostOp& operation : own_post) {
        if (has_operand(operation) && operation.operand == out_) operation.operand = own_out_layout;
      }
      const Weights same = parts_.empty() ? Weights() : parts_.front().layer.weights();
      ConvolutionLayer layer(own, own_in_layout, own_out_layout, weights, bias, own_post, same);
      add_scratch(layer.scratch_bytes());
      parts_.push_back({.layer = std::move(layer),
                        .source = (image * in_sizes[2] + in_begin) * in_row,
                        .out = (image * out_sizes[2] + row) * out_row});
    }
  }
}

void PooledConvolution::run(ThreadPool& pool, const float* source, float* out, void* scratch,
                            std::span<const float* const> operands) const {
  pool.for_each_range(parts_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Part& part = parts_[i];
      if (operands.empty()) {
        part.layer.run(source + part.source, out + part.out, at(scratch, scratch_[i]));
      } else {
        part.layer.run(source + part.source, out + part.out, at(scratch, scratch_[i]),
                       operands_at(operands, part.out));
      }
    }
  });
}

}  // namespace flambeau::kernels::onednn
