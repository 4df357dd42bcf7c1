#include "flambeau/ops/attention/attend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/ops/attention/softmax_rows.h"
#include "flambeau/tensor/elements/convert_rows.h"

namespace flambeau::ops {
namespace {

constexpr int64_t kMostQueries = 128;
constexpr int64_t kMostKeys = 512;

template <typename T>
const SoftmaxRows<T>& rows_of() {
  if constexpr (std::is_same_v<T, float>) {
    return FLAMBEAU_PICK(float_softmax)();
  } else {
    return FLAMBEAU_PICK(double_softmax)();
  }
}

// One matrix of a batch.
template <typename T>
struct Matrix {
  T* data;
  kernels::MatrixSteps steps;

  T* row(int64_t index) const { return data + index * steps.row; }
  explicit operator bool() const { return data != nullptr; }
};

template <typename T>
class Attention {
 public:
  Attention(const AttentionTensors& tensors, double scale, bool is_causal)
      : tensors_(tensors), scale_(scale), is_causal_(is_causal) {
    const Dims& out = tensors.out.sizes();
    rank_ = out.size();
    queries_ = out[rank_ - 2];
    width_ = out[rank_ - 1];
    keys_ = tensors.key.sizes()[rank_ - 2];
    depth_ = tensors.key.sizes()[rank_ - 1];
    for (size_t d = 0; d + 2 < rank_; ++d) heads_ *= out[d];
  }

  void run(Context& context) const {
    const int64_t step = std::min(queries_, kMostQueries);
    const int64_t blocks = (queries_ + step - 1) / step;
    // A step's keys and values are read once, and met by all of its queries.
    const double read = static_cast<double>(keys_) * static_cast<double>(depth_ + width_);
    const Cost cost = {.operations = static_cast<double>(step) * read, .bytes = read * sizeof(T)};
    ThreadPool& pool = context.pool();
    pool.for_each_range(static_cast<size_t>(heads_ * blocks), cost.grain(), [&](size_t begin, size_t end) {
      const Size numbers = Size(step) * (Size(std::min(keys_, kMostKeys)) + width_);
      const kernels::Scratch scratch(numbers * sizeof(T) + Size(step) * sizeof(RowState<T>));
      for (size_t i = begin; i < end; ++i) {
        const int64_t block = static_cast<int64_t>(i) % blocks;
        run_block(pool, static_cast<int64_t>(i) / blocks, block * step,
                  std::min(step, queries_ - block * step), scratch.as<T>());
      }
    });
  }

 private:
  Matrix<T> matrix(const Tensor& tensor, int64_t head) const {
    if (!tensor.defined()) return {nullptr, {}};
    int64_t offset = 0;
    for (size_t d = rank_ - 2; d-- > 0;) {
      const int64_t size = tensors_.out.sizes()[d];
      if (tensor.sizes()[d] != 1) offset += head % size * tensor.strides()[d];
      head /= size;
    }
    const auto step = [&](size_t d) { return tensor.sizes()[d] == 1 ? 0 : tensor.strides()[d]; };
    // Operands are only read.
    return {const_cast<T*>(tensor.data<T>()) + offset, {step(rank_ - 2), step(rank_ - 1), 0}};
  }

  // The scores of some queries and keys, with the mask.
  void score(ThreadPool& pool, const Matrix<T>& query, const Matrix<T>& key, const Matrix<T>& mask,
             int64_t first_query, int64_t queries, int64_t first_key, int64_t keys, T* scores) const {
    const kernels::GemmShape shape{.dtype = tensors_.out.dtype(),
                                   .rows = queries,
                                   .columns = keys,
                                   .depth = depth_,
                                   .left = query.steps,
                                   .right = key.steps.transposed(),
                                   .out = kernels::MatrixSteps::packed(queries, keys)};
    kernels::gemm(pool, shape, query.row(first_query), key.row(first_key), scores);
    const SoftmaxRows<T>& rows = rows_of<T>();
    for (int64_t i = 0; i < queries; ++i) {
      T* const row = scores + i * keys;
      rows.scale(row, static_cast<T>(scale_), keys);
      if (mask) {
        const T* const added = mask.row(first_query + i) + first_key * mask.steps.column;
        if (mask.steps.column == 1) {
          rows.add(row, added, keys);
        } else {
          for (int64_t j = 0; j < keys; ++j) row[j] += added[j * mask.steps.column];
        }
      }
      if (is_causal_) {
        const int64_t seen = std::clamp<int64_t>(first_query + i + 1 - first_key, 0, keys);
        std::fill(row + seen, row + keys, -std::numeric_limits<T>::infinity());
      }
    }
  }

  void run_block(ThreadPool& pool, int64_t head, int64_t first, int64_t queries, T* room) const {
    const SoftmaxRows<T>& rows = rows_of<T>();
    const Matrix<T> query = matrix(tensors_.query, head);
    const Matrix<T> key = matrix(tensors_.key, head);
    const Matrix<T> value = matrix(tensors_.value, head);
    const Matrix<T> mask = matrix(tensors_.mask, head);
    const Matrix<T> out = matrix(tensors_.out, head);
    const Matrix<T> weights = matrix(tensors_.weights, head);
    const Matrix<T> log_sums = matrix(tensors_.log_sums, head);
    T* const scores = room;
    T* const sums = scores + queries * std::min(keys_, kMostKeys);
    auto* const states = reinterpret_cast<RowState<T>*>(sums + queries * width_);
    for (int64_t i = 0; i < queries; ++i) states[i] = {-std::numeric_limits<T>::infinity(), 0};
    const int64_t end = is_causal_ ? std::min(keys_, first + queries) : keys_;
    // With one block of keys the softmax is finished before it meets the values.
    const bool is_single = end <= kMostKeys && !rounds();
    for (int64_t begin = 0; begin < end; begin += kMostKeys) {
      const int64_t keys = std::min(kMostKeys, end - begin);
      score(pool, query, key, mask, first, queries, begin, keys, scores);
      for (int64_t i = 0; i < queries; ++i) {
        T* const row = scores + i * keys;
        RowState<T>& state = states[i];
        if (weights) {  // as scores for now; made weights once the sum is known
          for (int64_t j = 0; j < keys; ++j) {
            weights.row(first + i)[(begin + j) * weights.steps.column] = row[j];
          }
        }
        const T before = state.largest;
        const T found = rows.largest(row, keys);
        state.largest = found > before || found != found ? found : before;
        if (state.largest == -std::numeric_limits<T>::infinity()) {
          std::fill_n(row, keys, T(0));
          continue;
        }
        const T sum = rows.exponentials(row, state.largest, keys);
        if (rounds()) round(row, keys);
        const T factor = begin == 0 ? T(0) : std::exp(before - state.largest);
        state.sum = state.sum * factor + sum;
        if (is_single) rows.scale(row, T(1) / sum, keys);
        if (begin > 0 && factor != T(1)) rows.scale(sums + i * width_, factor, width_);
      }
      const kernels::GemmShape shape{
          .dtype = tensors_.out.dtype(),
          .rows = queries,
          .columns = width_,
          .depth = keys,
          .left = kernels::MatrixSteps::packed(queries, keys),
          .right = value.steps,
          .out = is_single ? out.steps : kernels::MatrixSteps::packed(queries, width_)};
      kernels::GemmAddend addend;
      if (begin > 0) addend = {.data = sums, .steps = shape.out, .beta = 1.0};
      kernels::gemm(pool, shape, scores, value.row(begin), is_single ? out.row(first) : sums, addend);
    }
    for (int64_t i = 0; i < queries; ++i) {
      const RowState<T>& state = states[i];
      const bool is_empty = state.largest == -std::numeric_limits<T>::infinity();
      const T factor = is_empty ? T(0) : T(1) / state.sum;
      if (!is_single) {
        const T* const from = sums + i * width_;
        T* const to = out.row(first + i);
        for (int64_t j = 0; j < width_; ++j) to[j * out.steps.column] = is_empty ? T(0) : from[j] * factor;
      }
      if (log_sums) *log_sums.row(first + i) = state.largest + std::log(state.sum);
      if (weights) finish_weights(weights, first + i, end, state, factor);
    }
  }

  bool rounds() const {
    return tensors_.rounding == DType::kFloat16 || tensors_.rounding == DType::kBFloat16;
  }

  void round(T* row, int64_t count) const {
    std::array<uint8_t, 2 * kMostKeys> small;
    const auto length = static_cast<size_t>(count);
    if constexpr (std::is_same_v<T, float>) {
      find_convert_row(DType::kFloat32, tensors_.rounding)(row, small.data(), length);
      find_convert_row(tensors_.rounding, DType::kFloat32)(small.data(), row, length);
    }
  }

  void finish_weights(const Matrix<T>& weights, int64_t query, int64_t end, const RowState<T>& state,
                      T factor) const {
    T* const row = weights.row(query);
    for (int64_t j = 0; j < keys_; ++j) {
      T& weight = row[j * weights.steps.column];
      weight = j >= end || factor == T(0) ? T(0) : std::exp(weight - state.largest) * factor;
    }
  }

  const AttentionTensors& tensors_;
  double scale_;
  bool is_causal_;
  size_t rank_ = 0;
  int64_t heads_ = 1, queries_ = 0, keys_ = 0, depth_ = 0, width_ = 0;
};

}  // namespace

void attend(Context& context, const AttentionTensors& tensors, double scale, bool is_causal) {
  if (tensors.out.element_count() == 0) return;
  if (tensors.out.dtype() == DType::kFloat64) {
    Attention<double>(tensors, scale, is_causal).run(context);
  } else {
    Attention<float>(tensors, scale, is_causal).run(context);
  }
}

}  // namespace flambeau::ops
