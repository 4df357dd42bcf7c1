#include "flambeau/ops/rnn/prepared_rnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/rnn/cells.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

Tensor as_type(Context& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype && tensor.is_contiguous()) return tensor;
  const Tensor made = context.allocate(dtype, tensor.sizes());
  copy_into(context, tensor, made);
  return made;
}

// One layer in one direction.
struct Cell {
  int64_t input = 0, hidden = 0, output = 0;
  kernels::PackedMatrix input_weights, hidden_weights, projection;  // all as right sides
  Tensor input_bias, hidden_bias;                                   // undefined: none
};

kernels::PackedMatrix packed_turned(Context& context, const Tensor& weights, DType dtype) {
  const Tensor numbers = as_type(context, weights, dtype);
  return {context.pool(),     kernels::PackedMatrix::Side::kRight, dtype,         numbers.sizes()[1],
          numbers.sizes()[0], {1, numbers.sizes()[1], 0},          numbers.data()};
}

}  // namespace

struct PreparedRnn::State {
  RnnShape shape;
  DType dtype = DType::kFloat32;
  std::vector<Cell> cells;
};

namespace {

template <typename T>
class Run {
 public:
  Run(ThreadPool& pool, const RnnShape& shape, const Cell& cell, std::span<const int64_t> batch_sizes)
      : pool_(pool), shape_(shape), cell_(cell), batch_sizes_(batch_sizes) {}

  // Rows of `to` are `to_step` apart. `h` and `c` hold the first state, and the last one afterwards.
  void run(const T* from, T* to, int64_t to_step, T* h, T* c, bool is_reversed) const {
    const int64_t rows = std::accumulate(batch_sizes_.begin(), batch_sizes_.end(), int64_t{0});
    const int64_t width = shape_.gates() * cell_.hidden;
    const int64_t batch = batch_sizes_.empty() ? 0 : batch_sizes_[0];
    const bool is_gru = shape_.kind == RnnKind::kGru;
    const kernels::Scratch scratch(
        (Size(rows) * width + Size(is_gru ? batch : 0) * width + Size(batch) * cell_.hidden) * sizeof(T));
    T* const gates = scratch.as<T>();
    T* const hidden_gates = gates + rows * width;
    T* const full = hidden_gates + (is_gru ? batch * width : 0);
    multiply_packed(from, cell_.input, cell_.input_weights, gates, rows, biased(cell_.input_bias));
    int64_t row = is_reversed ? rows : 0;
    for (size_t i = 0; i < batch_sizes_.size(); ++i) {
      const int64_t count = batch_sizes_[is_reversed ? batch_sizes_.size() - 1 - i : i];
      if (is_reversed) row -= count;
      step(gates + row * width, hidden_gates, full, h, c, count);
      for (int64_t b = 0; b < count; ++b) {
        std::copy_n(h + b * cell_.output, cell_.output, to + (row + b) * to_step);
      }
      if (!is_reversed) row += count;
    }
  }

 private:
  kernels::GemmAddend biased(const Tensor& bias) const {
    if (!bias.defined()) return {};
    return {.data = bias.data(), .steps = {0, 1, 0}, .beta = 1.0};
  }

  void multiply_packed(const T* left, int64_t depth, const kernels::PackedMatrix& right, T* out, int64_t rows,
                       const kernels::GemmAddend& addend) const {
    const kernels::GemmShape shape{.dtype = right.dtype(),
                                   .rows = rows,
                                   .columns = right.columns(),
                                   .depth = depth,
                                   .left = kernels::MatrixSteps::packed(rows, depth),
                                   .out = kernels::MatrixSteps::packed(rows, right.columns())};
    kernels::gemm(pool_, shape, left, right, out, addend);
  }

  void step(T* gates, T* hidden_gates, T* full, T* h, T* c, int64_t count) const {
    const int64_t hidden = cell_.hidden;
    const int64_t width = shape_.gates() * hidden;
    if (shape_.kind == RnnKind::kGru) {
      multiply_packed(h, cell_.output, cell_.hidden_weights, hidden_gates, count, biased(cell_.hidden_bias));
    } else {
      const kernels::GemmAddend itself{
          .data = gates, .steps = kernels::MatrixSteps::packed(count, width), .beta = 1.0};
      multiply_packed(h, cell_.output, cell_.hidden_weights, gates, count, itself);
    }
    const bool is_projected = static_cast<bool>(cell_.projection);
    const auto rows = [&](size_t begin, size_t end) {
      for (auto b = static_cast<int64_t>(begin); b < static_cast<int64_t>(end); ++b) {
        T* const row = gates + b * width;
        T* const to = is_projected ? full + b * hidden : h + b * hidden;
        switch (shape_.kind) {
          case RnnKind::kLstm:
            lstm_cell(row, c + b * hidden, to, hidden);
            break;
          case RnnKind::kGru:
            gru_cell(row, hidden_gates + b * width, to, hidden);
            break;
          case RnnKind::kTanh:
            kernels::vector_math::tanh(row, to, static_cast<size_t>(hidden));
            break;
          case RnnKind::kRelu:
            cell_loops<T>().relu(row, to, hidden);
            break;
        }
      }
    };
    const auto grain = static_cast<size_t>(std::max<int64_t>(16384 / std::max<int64_t>(width, 1), 1));
    if (static_cast<size_t>(count) <= grain) {
      rows(0, static_cast<size_t>(count));
    } else {
      pool_.for_each_range(static_cast<size_t>(count), grain, rows);
    }
    if (is_projected) multiply_packed(full, hidden, cell_.projection, h, count, {});
  }

  ThreadPool& pool_;
  const RnnShape& shape_;
  const Cell& cell_;
  std::span<const int64_t> batch_sizes_;
};

template <typename T>
void run_layers(Context& context, const RnnShape& shape, DType dtype, std::span<const Cell> cells,
                const Tensor& input, std::span<const int64_t> batch_sizes, const Tensor& out,
                const Tensor& hy, const Tensor* cy, double dropout) {
  const int64_t rows = std::accumulate(batch_sizes.begin(), batch_sizes.end(), int64_t{0});
  const int64_t batch = hy.sizes()[1];
  const int64_t directions = shape.directions();
  const int64_t output = cells[0].output;
  Tensor from = input;
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    const bool is_last = layer + 1 == shape.layers;
    Tensor to = is_last ? out : context.allocate(dtype, Dims{rows, directions * output});
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t index = layer * directions + direction;
      const Cell& cell = cells[static_cast<size_t>(index)];
      T* const h = hy.mutable_data<T>() + index * batch * output;
      T* const c = cy == nullptr ? nullptr : cy->mutable_data<T>() + index * batch * cell.hidden;
      Run<T>(context.pool(), shape, cell, batch_sizes)
          .run(from.data<T>(), to.mutable_data<T>() + direction * output, directions * output, h, c,
               direction == 1);
    }
    if (!is_last && dropout > 0) to = call(context, "aten::dropout", to, dropout, true);
    from = to;
  }
}

}  // namespace

Tensor by_steps(const Tensor& sequence, bool batch_first) {
  if (!batch_first) return sequence;
  Geometry geometry = sequence.geometry();
  std::swap(geometry.sizes[0], geometry.sizes[1]);
  std::swap(geometry.strides[0], geometry.strides[1]);
  return sequence.with_geometry(std::move(geometry));
}

PreparedRnn::PreparedRnn(Context& context, const RnnShape& shape, std::span<const Tensor> parameters) {
  const auto cell_count = static_cast<size_t>(shape.layers * shape.directions());
  if (shape.layers < 1 || parameters.size() != cell_count * shape.parameters_in_cell()) {
    fail_argument(fmt::format("got an incorrect number of RNN parameters: {} for {} cells of {} each",
                              parameters.size(), cell_count, shape.parameters_in_cell()));
  }
  auto state = std::make_unique<State>();
  state->shape = shape;
  const DType stored = parameters[0].dtype();
  if (!is_floating(stored)) fail_dtype("lstm", stored);
  state->dtype = compute_dtype(stored);
  for (size_t i = 0; i < cell_count; ++i) {
    std::span<const Tensor> of_cell =
        parameters.subspan(i * shape.parameters_in_cell(), shape.parameters_in_cell());
    for (const Tensor& tensor : of_cell) {
      if (tensor.dtype() != stored || tensor.dim() == 0 || tensor.dim() > 2) {
        fail_argument("the parameters of an RNN must be matrices and vectors of one type");
      }
    }
    require(of_cell[0].dim() == 2 && of_cell[1].dim() == 2, "the weights of an RNN must be matrices");
    Cell cell;
    cell.input = of_cell[0].sizes()[1];
    cell.hidden = of_cell[0].sizes()[0] / shape.gates();
    cell.output = of_cell[1].sizes()[1];
    const int64_t width = cell.hidden * shape.gates();
    const int64_t expected = shape.has_projection ? of_cell.back().sizes()[0] : cell.hidden;
    if (of_cell[0].sizes()[0] != width || of_cell[1].sizes()[0] != width || cell.output != expected ||
        (shape.has_projection && (of_cell.back().dim() != 2 || of_cell.back().sizes()[1] != cell.hidden))) {
      fail_argument(fmt::format("the weights of an RNN do not fit each other: {} and {}",
                                of_cell[0].summary(), of_cell[1].summary()));
    }
    cell.input_weights = packed_turned(context, of_cell[0], state->dtype);
    cell.hidden_weights = packed_turned(context, of_cell[1], state->dtype);
    if (shape.has_projection) cell.projection = packed_turned(context, of_cell.back(), state->dtype);
    if (shape.has_biases) {
      require(of_cell[2].element_count() == width && of_cell[3].element_count() == width,
              "the biases of an RNN do not fit its weights");
      cell.input_bias = context.allocate(state->dtype, Dims{width});
      copy_into(context, of_cell[2], cell.input_bias);
      cell.hidden_bias = context.allocate(state->dtype, Dims{width});
      copy_into(context, of_cell[3], cell.hidden_bias);
      // Only a GRU keeps them apart: its reset gate multiplies one of them.
      if (shape.kind != RnnKind::kGru) {
        if (state->dtype == DType::kFloat64) {
          cell_loops<double>().sum(cell.input_bias.data<double>(), cell.hidden_bias.data<double>(),
                                   cell.input_bias.mutable_data<double>(), width);
        } else {
          cell_loops<float>().sum(cell.input_bias.data<float>(), cell.hidden_bias.data<float>(),
                                  cell.input_bias.mutable_data<float>(), width);
        }
      }
    }
    state->cells.push_back(std::move(cell));
  }
  for (size_t i = 1; i < cell_count; ++i) {
    const int64_t wanted = i < static_cast<size_t>(shape.directions())
                               ? state->cells[0].input
                               : state->cells[0].output * shape.directions();
    require(state->cells[i].input == wanted && state->cells[i].hidden == state->cells[0].hidden &&
                state->cells[i].output == state->cells[0].output,
            "the layers of an RNN do not fit each other");
  }
  state_ = std::move(state);
}

PreparedRnn::~PreparedRnn() = default;
PreparedRnn::PreparedRnn(PreparedRnn&&) noexcept = default;
PreparedRnn& PreparedRnn::operator=(PreparedRnn&&) noexcept = default;

const RnnShape& PreparedRnn::shape() const { return state_->shape; }
int64_t PreparedRnn::output_size() const { return state_->cells[0].output; }

void PreparedRnn::run(Context& context, const Tensor& input, std::span<const int64_t> batch_sizes,
                      const Tensor& h0, const Tensor* c0, const Tensor& out, const Tensor& hy,
                      const Tensor* cy, double dropout) const {
  const DType dtype = state_->dtype;
  if (input.sizes().back() != state_->cells[0].input) {
    fail_argument(fmt::format("input.size(-1) must be equal to input_size. Expected {}, got {}",
                              state_->cells[0].input, input.sizes().back()));
  }
  const Cell& cell = state_->cells[0];
  const auto rows = std::accumulate(batch_sizes.begin(), batch_sizes.end(), Size(0));
  const auto is_state = [&](const Tensor& tensor, int64_t features) {
    return tensor.dim() == 3 && tensor.sizes()[0] == static_cast<int64_t>(state_->cells.size()) &&
           tensor.sizes()[1] >= (batch_sizes.empty() ? 0 : batch_sizes[0]) && tensor.sizes()[2] == features;
  };
  if (!is_state(h0, cell.output) || !is_state(hy, cell.output) ||
      (c0 != nullptr && (!is_state(*c0, cell.hidden) || !is_state(*cy, cell.hidden)))) {
    fail_argument(fmt::format("the hidden state of an RNN, {}, does not fit {} cells of {} features",
                              h0.summary(), state_->cells.size(), cell.output));
  }
  require(input.element_count() == rows * cell.input &&
              out.element_count() == rows * cell.output * state_->shape.directions(),
          "the sequences of an RNN do not fit its sizes");
  const Tensor from = as_type(context, input, dtype);
  const auto result = [&](const Tensor& wanted) {
    return wanted.dtype() == dtype ? wanted : context.allocate(dtype, wanted.sizes());
  };
  const Tensor to = result(out);
  const Tensor h = result(hy);
  Tensor c;
  copy_into(context, h0, h);
  if (cy != nullptr) {
    c = result(*cy);
    copy_into(context, *c0, c);
  }
  const Tensor* const cells = cy == nullptr ? nullptr : &c;
  if (dtype == DType::kFloat64) {
    run_layers<double>(context, state_->shape, dtype, state_->cells, from, batch_sizes, to, h, cells,
                       dropout);
  } else {
    run_layers<float>(context, state_->shape, dtype, state_->cells, from, batch_sizes, to, h, cells, dropout);
  }
  if (to.storage() != out.storage()) copy_into(context, to, out);
  if (h.storage() != hy.storage()) copy_into(context, h, hy);
  if (cy != nullptr && c.storage() != cy->storage()) copy_into(context, c, *cy);
}

}  // namespace flambeau::ops
