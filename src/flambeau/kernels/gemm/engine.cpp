#include "flambeau/kernels/gemm/engine.h"

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels {
namespace {

// A block of the result is the work of one thread: its left panels must stay in the second-level cache.
constexpr int64_t kMostBlockRows = 336;
constexpr int64_t kMostBlockColumns = 512;
int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

// How many panels a block takes in each direction.
struct Blocks {
  int64_t left, right;  // panels of a block
  int64_t left_count, right_count;

  Blocks(int64_t left_panels, int64_t panel_rows, int64_t right_panels, int64_t panel_columns, int64_t batch,
         int64_t threads) {
    left_count = divide_up(left_panels * panel_rows, kMostBlockRows);
    right_count = divide_up(right_panels * panel_columns, kMostBlockColumns);
    // Threads that come late, or are slowed down by others, leave work to the rest: a few blocks for each.
    const int64_t wanted = threads > 1 ? threads * 4 : 1;
    while (batch * left_count * right_count < wanted) {
      const int64_t block_rows = left_panels * panel_rows / left_count;
      const int64_t block_columns = right_panels * panel_columns / right_count;
      const bool can_rows = block_rows > 2 * panel_rows + 32;
      const bool can_columns = block_columns > 2 * panel_columns;
      if (can_columns && (block_columns >= block_rows || !can_rows)) {
        ++right_count;
      } else if (can_rows) {
        ++left_count;
      } else {
        break;
      }
    }
    left = divide_up(left_panels, left_count);
    right = divide_up(right_panels, right_count);
    left_count = divide_up(left_panels, left);
    right_count = divide_up(right_panels, right);
  }
};

template <typename T>
class Run {
 public:
  Run(const GemmProblem<T>& problem, int64_t threads)
      : problem_(problem),
        kernels_(gemm_kernels<T>()),
        access_(problem.dtype),
        panels_(problem.rows, kernels_.rows),
        blocks_(panels_.count, kernels_.rows, divide_up(problem.columns, kernels_.columns), kernels_.columns,
                problem.batch, threads),
        sums_first_(!problem.epilogues.empty() && problem.epilogues[0].kind == Epilogue::Kind::kSum),
        in_place_(access_.same() && problem.out_steps.column == 1 && problem.alpha == T(1) &&
                  !has_sum(epilogues_left())) {
    const int64_t block_rows = blocks_.left * kernels_.rows;
    depth_block_ = problem.depth == 0 ? 0 : divide_up(problem.depth, divide_up(problem.depth, kDepthBlock));
    left_room_ = round_up(block_rows * depth_block_);
    right_room_ = round_up(kernels_.columns * depth_block_);
    tile_room_ = round_up(kernels_.rows * kernels_.columns);
    block_step_ = blocks_.right * kernels_.columns;
    block_room_ = in_place_ ? 0 : block_rows * block_step_;
  }

  int64_t count() const { return problem_.batch * blocks_.left_count * blocks_.right_count; }
  void run(int64_t begin, int64_t end) const {
    const Scratch scratch((Size(left_room_) + right_room_ + tile_room_ + block_room_) * sizeof(T));
    for (int64_t index = begin; index < end; ++index) run_block(index, scratch.as<T>());
  }

 private:
  static int64_t round_up(int64_t elements) { return (elements + 63) & ~int64_t{63}; }

  void run_block(int64_t index, T* room) const {
    const int64_t batch = index / (blocks_.left_count * blocks_.right_count);
    const int64_t left_begin = index % blocks_.left_count * blocks_.left;
    const int64_t right_begin = index / blocks_.left_count % blocks_.right_count * blocks_.right;
    const int64_t left_end = std::min(left_begin + blocks_.left, panels_.count);
    const int64_t row_begin = panels_.begin(left_begin);
    const int64_t row_end = panels_.begin(left_end);
    const int64_t column_begin = right_begin * kernels_.columns;
    const int64_t column_end = std::min(column_begin + blocks_.right * kernels_.columns, problem_.columns);

    T* const left_room = room;
    T* const right_room = left_room + left_room_;
    T* const tile_room = right_room + right_room_;
    T* out = tile_room + tile_room_;
    int64_t out_step = block_step_;
    bool accumulate = false;
    if (in_place_) {
      out = static_cast<T*>(problem_.out) + batch * problem_.out_steps.batch +
            row_begin * problem_.out_steps.row + column_begin;
      out_step = problem_.out_steps.row;
      accumulate = start_in_place(batch, row_begin, row_end, column_begin, column_end - column_begin, out);
    }
    if (problem_.depth == 0 && !accumulate) {
      for (int64_t r = 0; r < row_end - row_begin; ++r) {
        std::fill_n(out + r * out_step, column_end - column_begin, T(0));
      }
    }
    Panel<T> left[kMostBlockRows];
    for (int64_t depth_begin = 0; depth_begin < problem_.depth; depth_begin += depth_block_) {
      poll_work();
      const int64_t depth = std::min(depth_block_, problem_.depth - depth_begin);
      for (int64_t p = left_begin; p < left_end; ++p) {
        const int64_t first = panels_.begin(p);
        left[p - left_begin] = problem_.left->panel(batch, first, panels_.begin(p + 1) - first, depth_begin,
                                                    depth, left_room + (first - row_begin) * depth);
      }
      for (int64_t column = column_begin; column < column_end; column += kernels_.columns) {
        const int64_t used = std::min(kernels_.columns, column_end - column);
        const Panel<T> right = problem_.right->panel(batch, column, used, depth_begin, depth, right_room);
        for (int64_t p = left_begin; p < left_end; ++p) {
          const int64_t first = panels_.begin(p);
          const int64_t tile_rows = panels_.begin(p + 1) - first;
          T* const target = out + (first - row_begin) * out_step + (column - column_begin);
          if (used == kernels_.columns) {
            kernels_.tile(tile_rows, depth, left[p - left_begin].data, right.data, right.step, target,
                          out_step, accumulate);
          } else {
            kernels_.tile(tile_rows, depth, left[p - left_begin].data, right.data, right.step, tile_room,
                          kernels_.columns, false);
            copy_tile(tile_room, tile_rows, used, target, out_step, accumulate);
          }
        }
      }
      accumulate = true;
    }
    if (in_place_) return finish_in_place(row_end - row_begin, column_end - column_begin, out);
    if (problem_.out_steps.row == 1 && problem_.out_steps.column != 1) {
      return finish_columns(batch, row_begin, row_end, column_begin, column_end, out);
    }
    for (int64_t r = row_begin; r < row_end; ++r) {
      finish_row(access_, problem_, batch, r, column_begin, column_end - column_begin,
                 out + (r - row_begin) * out_step);
    }
  }

  // The transposed way out: columns of the block become contiguous rows of memory.
  void finish_columns(int64_t batch, int64_t row_begin, int64_t row_end, int64_t column_begin,
                      int64_t column_end, const T* block) const {
    GemmProblem<T> turned = problem_;
    turned.out_steps = problem_.out_steps.transposed();
    turned.addend_steps = problem_.addend_steps.transposed();
    constexpr int64_t kColumns = 16;  // at a time: a cache line of the block's rows
    T columns[kColumns][64];
    for (int64_t c = column_begin; c < column_end; c += kColumns) {
      const int64_t some = std::min(kColumns, column_end - c);
      for (int64_t r = row_begin; r < row_end; r += 64) {
        const int64_t count = std::min<int64_t>(64, row_end - r);
        for (int64_t i = 0; i < count; ++i) {
          const T* const from = block + (r - row_begin + i) * block_step_ + (c - column_begin);
          for (int64_t j = 0; j < some; ++j) columns[j][i] = from[j];
        }
        for (int64_t j = 0; j < some; ++j) finish_row(access_, turned, batch, c + j, r, count, columns[j]);
      }
    }
  }

  // Those that come after the block has its sums.
  Epilogues epilogues_left() const { return problem_.epilogues.subspan(sums_first_ ? 1 : 0); }

  void finish_in_place(int64_t rows, int64_t columns, T* out) const {
    if constexpr (std::is_same_v<T, float>) {
      if (epilogues_left().empty()) return;
      const bool is_whole = columns == problem_.out_steps.row;  // rows follow each other
      const int64_t count = is_whole ? rows * columns : columns;
      for (int64_t r = 0; r < (is_whole ? 1 : rows); ++r)
        apply(epilogues_left(), out + r * problem_.out_steps.row, nullptr, static_cast<size_t>(count));
    }
  }

  // Adds what is to be added to what the block of the result holds and the sums begin with.
  bool add_in_place(int64_t batch, int64_t row_begin, int64_t row_end, int64_t column, int64_t count,
                    T* out) const {
    const auto factor = static_cast<T>(problem_.epilogues[0].alpha);
    const MatrixSteps& steps = problem_.addend_steps;
    const bool has_addend = problem_.addend != nullptr && problem_.beta != T(0);
    for (int64_t r = row_begin; r < row_end; ++r, out += problem_.out_steps.row) {
      for (int64_t c = 0; factor != T(1) && c < count; ++c) out[c] *= factor;
      if (!has_addend) continue;
      const T* const from = static_cast<const T*>(problem_.addend) + batch * steps.batch + r * steps.row +
                            column * steps.column;
      for (int64_t c = 0; c < count; ++c) out[c] += problem_.beta * from[c * steps.column];
    }
    return true;
  }

  // Puts what is to be added into the block of the result; false when there is nothing.
  bool start_in_place(int64_t batch, int64_t row_begin, int64_t row_end, int64_t column, int64_t count,
                      T* out) const {
    if (sums_first_) return add_in_place(batch, row_begin, row_end, column, count, out);
    if (problem_.addend == nullptr || problem_.beta == T(0)) return false;
    const MatrixSteps& steps = problem_.addend_steps;
    for (int64_t r = row_begin; r < row_end; ++r, out += problem_.out_steps.row) {
      const T* const from = static_cast<const T*>(problem_.addend) + batch * steps.batch + r * steps.row +
                            column * steps.column;
      if (from == out && steps.column == 1) {
        if (problem_.beta == T(1)) continue;
      } else if (steps.column == 0) {
        std::fill_n(out, count, *from);
      } else {
        access_.load(from, 0, steps.column, count, out);
      }
      if (problem_.beta != T(1)) {
        for (int64_t c = 0; c < count; ++c) out[c] *= problem_.beta;
      }
    }
    return true;
  }

  void copy_tile(const T* tile, int64_t rows, int64_t columns, T* out, int64_t out_step,
                 bool accumulate) const {
    for (int64_t r = 0; r < rows; ++r) {
      const T* const from = tile + r * kernels_.columns;
      T* const to = out + r * out_step;
      if (accumulate) {
        for (int64_t c = 0; c < columns; ++c) to[c] += from[c];
      } else {
        std::copy_n(from, columns, to);
      }
    }
  }

  const GemmProblem<T>& problem_;
  const GemmKernels<T>& kernels_;
  RowAccess<T> access_;
  LeftPanels panels_;
  Blocks blocks_;
  bool sums_first_;
  bool in_place_;
  int64_t depth_block_, left_room_, right_room_, tile_room_, block_step_, block_room_;
};

}  // namespace

template <typename T>
void finish_row(const RowAccess<T>& access, const GemmProblem<T>& problem, int64_t batch, int64_t row,
                int64_t column, int64_t count, T* values) {
  if (problem.alpha != T(1)) {
    for (int64_t c = 0; c < count; ++c) values[c] *= problem.alpha;
  }
  if (problem.addend != nullptr && problem.beta != T(0)) {
    const MatrixSteps& steps = problem.addend_steps;
    T piece[256];
    for (int64_t done = 0; done < count; done += 256) {
      const int64_t some = std::min<int64_t>(count - done, 256);
      access.load(problem.addend, batch * steps.batch + row * steps.row + (column + done) * steps.column,
                  steps.column, some, piece);
      for (int64_t c = 0; c < some; ++c) values[done + c] += problem.beta * piece[c];
    }
  }
  const MatrixSteps& steps = problem.out_steps;
  access.finish(problem.epilogues, values, count, problem.out,
                batch * steps.batch + row * steps.row + column * steps.column, steps.column);
}

template <typename T>
void run_gemm(ThreadPool& pool, const GemmProblem<T>& problem) {
  if (problem.rows == 0 || problem.columns == 0 || problem.batch == 0) return;
  const Cost cost = product_cost<T>(problem.rows, problem.columns, problem.depth, problem.batch);
  const double worth = std::min(cost.nanoseconds() / kPieceTime, static_cast<double>(pool.threads()));
  const Run<T> run(problem, std::max<int64_t>(static_cast<int64_t>(worth), 1));
  const auto count = static_cast<double>(run.count());
  const Cost block = {.operations = cost.operations / count, .bytes = cost.bytes / count};
  pool.for_each_range(static_cast<size_t>(run.count()), block.grain(), [&](size_t begin, size_t end) {
    run.run(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

#define FLAMBEAU_INSTANTIATE(T)                                                                            \
  template void run_gemm(ThreadPool&, const GemmProblem<T>&);                                              \
  template void finish_row(const RowAccess<T>&, const GemmProblem<T>&, int64_t, int64_t, int64_t, int64_t, \
                           T*);
FLAMBEAU_INSTANTIATE(float)
FLAMBEAU_INSTANTIATE(double)
FLAMBEAU_INSTANTIATE(uint64_t)
FLAMBEAU_INSTANTIATE(std::complex<float>)
FLAMBEAU_INSTANTIATE(std::complex<double>)
#undef FLAMBEAU_INSTANTIATE

}  // namespace flambeau::kernels
