#include "flambeau/ops/engines/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/walk.h"

namespace flambeau::ops {
namespace {

constexpr size_t kColumns = 256;  // states worked on at a time
constexpr size_t kTileRows = 16;  // rows converted at a time
constexpr size_t kMostOutputs = 2;

struct ReducedAxis {
  int64_t size;
  int64_t in;   // bytes of the input
  int64_t out;  // elements of the results
};

// The buffers of one thread's piece of work.
struct Scratch {
  explicit Scratch(size_t state_size) : states(new uint8_t[state_size * kColumns]) {}
  std::unique_ptr<uint8_t[]> states;
  alignas(64) std::array<uint8_t, kColumns * kTileRows * kMostElement> rows;
  alignas(64) std::array<std::array<uint8_t, kColumns * kMostElement>, kMostOutputs> results;
};

class FoldRun {
 public:
  FoldRun(const Tensor& input, const DimFlags& reduced, const Fold& fold, std::span<const Output> outputs,
          const void* parameters)
      : fold_(fold), outputs_(outputs), parameters_(parameters), base_(input.data()), from_(input.dtype()) {
    int64_t out = 1;
    for (size_t d = input.dim(); d-- > 0;) {
      const int64_t size = input.sizes()[d];
      const int64_t stride = input.byte_stride(d);
      (reduced[d] ? reduced_count_ : kept_count_) *= size;
      if (size == 1) continue;
      if (reduced[d]) {
        reduced_.push_back({size, stride, 0});
        continue;
      }
      if (!kept_.empty() && stride == kept_.back().in * kept_.back().size) {
        kept_.back().size *= size;
      } else {
        kept_.push_back({size, stride, out});
      }
      out *= size;
    }
    std::reverse(kept_.begin(), kept_.end());
    merge_reduced();
    choose_columns();
    row_size_ = dtype_size(fold.row);
    is_direct_ = from_ == fold.row;
  }

  void run(ThreadPool& pool) {
    const int64_t units = is_across_ ? outer_count_ * blocks_ : (kept_count_ + kBatch - 1) / kBatch;
    const double unit_work =
        std::max(static_cast<double>(reduced_count_) *
                     static_cast<double>(is_across_ ? std::min<int64_t>(columns_.size, kColumns) : kBatch),
                 1.0);
    if (units < 2 * kParts && static_cast<double>(units) * unit_work >= 4 * kGrain && kept_count_ <= 16384 &&
        reduced_[0].size > 1) {
      run_split(pool, units);
      return;
    }
    const auto grain = static_cast<int64_t>(std::max(kGrain / unit_work, 1.0));
    const auto piece = [&](size_t begin, size_t end) {
      const auto scratch = std::make_unique<Scratch>(fold_.state_size);
      for (auto unit = static_cast<int64_t>(begin); unit < static_cast<int64_t>(end); ++unit) {
        const Place place = place_of(unit);
        fold_.start(scratch->states.get(), place.count, parameters_);
        add(place, 0, reduced_[0].size, scratch->states.get(), *scratch);
        finish(place, scratch->states.get(), *scratch);
      }
    };
    if (units <= grain) {
      piece(0, static_cast<size_t>(units));
    } else {
      pool.for_each_range(static_cast<size_t>(units), static_cast<size_t>(grain), piece);
    }
  }

 private:
  static constexpr int64_t kBatch = 16;  // results of the way along that one thread takes at least
  // Of the reduced range, where there are few results. Not the number of threads: sums in another order have
  // other bits.
  static constexpr int64_t kParts = 16;

  // Results that are made together.
  struct Place {
    int64_t in = 0;
    int64_t out = 0;
    int64_t out_step = 1;
    size_t count = 0;
    int64_t index = 0;  // of the first one, among all
  };

  void merge_reduced() {
    std::stable_sort(reduced_.begin(), reduced_.end(),
                     [](const ReducedAxis& a, const ReducedAxis& b) { return a.in > b.in; });
    std::vector<ReducedAxis> merged;
    for (const ReducedAxis& axis : reduced_) {
      if (!merged.empty() && merged.back().in == axis.in * axis.size) {
        merged.back().size *= axis.size;
        merged.back().in = axis.in;
      } else {
        merged.push_back(axis);
      }
    }
    if (merged.empty()) merged.push_back({1, 0, 0});
    reduced_ = std::move(merged);
    if (reduced_count_ == 0) reduced_ = {{0, 0, 0}};
  }

  void choose_columns() {
    size_t best = kept_.size();
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].in != 0 && (best == kept_.size() || kept_[i].in < kept_[best].in)) best = i;
    }
    if (best == kept_.size() || kept_[best].size < 4) return;
    if (reduced_count_ > 1 && kept_[best].in > reduced_.back().in) return;
    is_across_ = true;
    columns_ = kept_[best];
    outer_ = kept_;
    outer_.erase(outer_.begin() + static_cast<std::ptrdiff_t>(best));
    blocks_ = (columns_.size + static_cast<int64_t>(kColumns) - 1) / static_cast<int64_t>(kColumns);
    outer_count_ = kept_count_ / columns_.size;
  }

  Place place_of(int64_t unit) const {
    Place place;
    if (!is_across_) {
      place.index = place.out = unit * kBatch;
      place.count = static_cast<size_t>(std::min(kBatch, kept_count_ - place.index));
      return place;
    }
    const int64_t block = unit % blocks_ * static_cast<int64_t>(kColumns);
    int64_t rest = unit / blocks_;
    place.index = rest * columns_.size + block;
    for (size_t d = outer_.size(); d-- > 0;) {
      const int64_t index = rest % outer_[d].size;
      rest /= outer_[d].size;
      place.in += index * outer_[d].in;
      place.out += index * outer_[d].out;
    }
    place.in += block * columns_.in;
    place.out += block * columns_.out;
    place.out_step = columns_.out;
    place.count = static_cast<size_t>(std::min<int64_t>(kColumns, columns_.size - block));
    return place;
  }

  // Calls body(offset, first, count) for every run of the innermost reduced axis, of the part [begin, end) of
  // the outermost one.
  template <typename Body>
  void for_each_run(int64_t begin, int64_t end, Body&& body) const {
    const ReducedAxis& inner = reduced_.back();
    if (reduced_.size() == 1) {
      if (begin < end) body(begin * inner.in, begin, end - begin);
      return;
    }
    int64_t runs = end - begin;
    int64_t inside = 1;
    for (size_t d = 1; d + 1 < reduced_.size(); ++d) inside *= reduced_[d].size;
    runs *= inside;
    std::vector<int64_t> index(reduced_.size() - 1, 0);
    index[0] = begin;
    int64_t offset = begin * reduced_[0].in;
    int64_t first = begin * inside * inner.size;
    WorkPoller poll;
    for (int64_t run = 0; run < runs; ++run) {
      poll(static_cast<size_t>(inner.size));
      body(offset, first, inner.size);
      first += inner.size;
      for (size_t d = index.size(); d-- > 0;) {
        offset += reduced_[d].in;
        if (++index[d] < reduced_[d].size || d == 0) break;
        offset -= reduced_[d].in * reduced_[d].size;
        index[d] = 0;
      }
    }
  }

  void add(const Place& place, int64_t begin, int64_t end, uint8_t* states, Scratch& scratch) const {
    if (is_across_) {
      add_across(place, begin, end, states, scratch);
      return;
    }
    std::vector<int64_t> index(kept_.size());
    int64_t rest = place.index;
    int64_t in = 0;
    for (size_t d = kept_.size(); d-- > 0;) {
      index[d] = rest % kept_[d].size;
      rest /= kept_[d].size;
      in += index[d] * kept_[d].in;
    }
    const bool is_packed =
        is_direct_ && reduced_.size() == 1 && reduced_[0].in == static_cast<int64_t>(row_size_);
    if (is_packed && fold_.along_rows != nullptr && kept_.size() <= 1) {
      const int64_t stride = kept_.empty() ? 0 : kept_[0].in;
      fold_.along_rows(states, base_ + in + begin * reduced_[0].in, stride, place.count,
                       static_cast<size_t>(end - begin), parameters_);
      return;
    }
    for (size_t i = 0; i < place.count; ++i) {
      add_along(in, begin, end, states + i * fold_.state_size, scratch);
      for (size_t d = kept_.size(); d-- > 0;) {
        in += kept_[d].in;
        if (++index[d] < kept_[d].size) break;
        in -= kept_[d].in * kept_[d].size;
        index[d] = 0;
      }
    }
  }

  void add_along(int64_t in, int64_t begin, int64_t end, uint8_t* state, Scratch& scratch) const {
    const int64_t step = reduced_.back().in;
    const bool is_packed = is_direct_ && step == static_cast<int64_t>(row_size_);
    for_each_run(begin, end, [&](int64_t offset, int64_t first, int64_t count) {
      const uint8_t* const from = base_ + in + offset;
      if (is_packed) {
        fold_.along(state, from, static_cast<size_t>(count), first, parameters_);
        return;
      }
      constexpr int64_t kBlock = 1024;
      WorkPoller poll;
      for (int64_t done = 0; done < count; done += kBlock) {
        poll(kBlock);
        const auto block = static_cast<size_t>(std::min(kBlock, count - done));
        load_packed(from_, from + done * step, step, block, fold_.row, scratch.rows.data());
        fold_.along(state, scratch.rows.data(), block, first + done, parameters_);
      }
    });
  }

  void add_across(const Place& place, int64_t begin, int64_t end, uint8_t* states, Scratch& scratch) const {
    const int64_t step = reduced_.back().in;
    const bool is_packed = is_direct_ && columns_.in == static_cast<int64_t>(row_size_);
    for_each_run(begin, end, [&](int64_t offset, int64_t first, int64_t count) {
      const uint8_t* const from = base_ + place.in + offset;
      if (is_packed) {
        fold_.across(states, from, step, static_cast<size_t>(count), place.count, first, parameters_);
        return;
      }
      const size_t stride = place.count * row_size_;
      WorkPoller poll;
      for (int64_t done = 0; done < count; done += static_cast<int64_t>(kTileRows)) {
        poll(kTileRows * place.count);
        const auto rows = static_cast<size_t>(std::min<int64_t>(kTileRows, count - done));
        for (size_t r = 0; r < rows; ++r) {
          load_packed(from_, from + (done + static_cast<int64_t>(r)) * step, columns_.in, place.count,
                      fold_.row, scratch.rows.data() + r * stride);
        }
        fold_.across(states, scratch.rows.data(), static_cast<int64_t>(stride), rows, place.count,
                     first + done, parameters_);
      }
    });
  }

  void finish(const Place& place, const uint8_t* states, Scratch& scratch) const {
    std::array<void*, kMostOutputs> results{};
    for (size_t i = 0; i < outputs_.size(); ++i) results[i] = scratch.results[i].data();
    fold_.finish(states, place.count, reduced_count_, results.data(), parameters_);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Tensor& tensor = *outputs_[i].tensor;
      const auto size = static_cast<int64_t>(tensor.element_size());
      store_packed(outputs_[i].row, results[i], place.count, tensor.dtype(),
                   tensor.mutable_data() + place.out * size, place.out_step * size);
    }
  }

  // Few results, many elements: threads take parts of the reduced range of all results.
  void run_split(ThreadPool& pool, int64_t units) {
    const int64_t range = reduced_[0].size;
    const int64_t parts = std::min(range, kParts);
    const auto part_begin = [&](int64_t part) {
      return static_cast<int64_t>(static_cast<__int128>(range) * part / parts);
    };
    const size_t all = static_cast<size_t>(kept_count_) * fold_.state_size;
    const std::unique_ptr<uint8_t[]> states(new uint8_t[all * static_cast<size_t>(parts)]);
    pool.for_each_range(static_cast<size_t>(parts), 1, [&](size_t first, size_t last) {
      const auto scratch = std::make_unique<Scratch>(fold_.state_size);
      for (size_t part = first; part < last; ++part) {
        uint8_t* const own = states.get() + part * all;
        fold_.start(own, static_cast<size_t>(kept_count_), parameters_);
        const auto at = static_cast<int64_t>(part);
        for (int64_t unit = 0; unit < units; ++unit) {
          const Place place = place_of(unit);
          add(place, part_begin(at), part_begin(at + 1),
              own + static_cast<size_t>(place.index) * fold_.state_size, *scratch);
        }
      }
    });
    for (int64_t part = 1; part < parts; ++part) {
      fold_.merge(states.get(), states.get() + static_cast<size_t>(part) * all,
                  static_cast<size_t>(kept_count_), parameters_);
    }
    const auto scratch = std::make_unique<Scratch>(fold_.state_size);
    for (int64_t unit = 0; unit < units; ++unit) {
      const Place place = place_of(unit);
      finish(place, states.get() + static_cast<size_t>(place.index) * fold_.state_size, *scratch);
    }
  }

  const Fold& fold_;
  std::span<const Output> outputs_;
  const void* parameters_;
  const uint8_t* base_;
  DType from_;
  size_t row_size_ = 0;
  bool is_direct_ = false;
  std::vector<ReducedAxis> kept_;     // outermost first, as the results lie
  std::vector<ReducedAxis> reduced_;  // outermost first; never empty
  int64_t kept_count_ = 1;
  int64_t reduced_count_ = 1;
  // Across: the kept axis that lies closest in memory, and the others.
  bool is_across_ = false;
  ReducedAxis columns_{};
  std::vector<ReducedAxis> outer_;
  int64_t blocks_ = 1;
  int64_t outer_count_ = 1;
};

}  // namespace

DimFlags all_dims(size_t rank) { return DimFlags(rank, true); }

DimFlags one_dim(int64_t dim, size_t rank) {
  DimFlags flags(rank, false);
  const size_t d = wrap_dim(dim, rank);
  if (rank > 0) flags[d] = true;
  return flags;
}

DimFlags reduced_dims(std::span<const Size> dims, size_t rank) {
  if (dims.empty()) return all_dims(rank);
  if (rank > 64) throw Error(ErrorCode::kInvalidArgument, "only tensors with up to 64 dims are supported");
  DimFlags flags(rank, false);
  bool has_scalar = false;
  for (const int64_t dim : dims) {
    const size_t d = wrap_dim(dim, rank);
    if (rank == 0 ? has_scalar : flags[d]) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("dim {} appears multiple times in the list of dims", d));
    }
    has_scalar = true;
    if (rank > 0) flags[d] = true;
  }
  return flags;
}

Tensor cast(Context& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor made = context.allocate(dtype, tensor.sizes());
  copy_into(context, tensor, made);
  return made;
}

void run_fold(Context& context, const Tensor& input, DType common, const DimFlags& reduced, const Fold& fold,
              std::span<const Output> outputs, const void* parameters) {
  // A type smaller than the one computed in rounds: it takes a pass of its own.
  const bool rounds = input.dtype() != common && common != fold.row && fold.row != DType::kBool;
  FoldRun(rounds ? cast(context, input, common) : input, reduced, fold, outputs, parameters)
      .run(context.pool());
}

}  // namespace flambeau::ops
