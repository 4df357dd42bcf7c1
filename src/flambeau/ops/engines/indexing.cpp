#include "flambeau/ops/engines/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/walk.h"
#include "flambeau/tensor/elements/convert_rows.h"

namespace flambeau::ops {

void fail_index(int64_t index, size_t dim, int64_t size) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("index {} is out of bounds for dimension {} with size {}", index, dim, size));
}

void require_index_dtype(DType dtype) {
  if (dtype == DType::kInt64 || dtype == DType::kInt32) return;
  if (dtype == DType::kBool || dtype == DType::kUInt8) {
    throw Error(ErrorCode::kUnsupported,
                "the true elements of a mask decide the shape of what it indexes: it is not known ahead");
  }
  throw Error(ErrorCode::kInvalidArgument, "tensors used as indices must be long, int, byte or bool tensors");
}

Tensor packed_indices(Context& context, const Tensor& tensor) {
  if (tensor.dtype() == DType::kInt64 && tensor.is_contiguous()) return tensor;
  Tensor packed = context.allocate(DType::kInt64, tensor.sizes());
  copy_into(context, tensor, packed);
  return packed;
}

std::vector<int64_t> read_indices(const Tensor& tensor) {
  const Tensor packed = tensor.to_contiguous();
  require_memory(static_cast<uint64_t>(packed.element_count()) * sizeof(int64_t));
  std::vector<int64_t> values(static_cast<size_t>(packed.element_count()));
  if (values.empty()) return values;
  load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), values.size(),
              DType::kInt64, values.data());
  return values;
}

Tensor broadcast_view(const Tensor& tensor, std::span<const int64_t> sizes) {
  require_broadcast(tensor.sizes(), sizes);
  Geometry geometry{Dims(sizes), Dims(sizes.size(), 0), tensor.offset()};
  const size_t shift = sizes.size() - tensor.dim();
  for (size_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.sizes()[d] != 1) geometry.strides[d + shift] = tensor.strides()[d];
  }
  return tensor.with_geometry(std::move(geometry));
}

namespace {

// Offsets, in bytes, of every position in some dimensions, row-major.
std::vector<int64_t> offsets_of(const Tensor& tensor, std::span<const int64_t> dims) {
  std::vector<int64_t> offsets{0};
  for (const int64_t dim : dims) {
    const auto d = static_cast<size_t>(dim);
    const int64_t step = tensor.byte_stride(d);
    std::vector<int64_t> next;
    const Size count = Size(offsets.size()) * tensor.sizes()[d];
    require_memory(static_cast<uint64_t>((count * sizeof(int64_t)).value()));
    next.reserve(static_cast<size_t>(count));
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < tensor.sizes()[d]; ++i) next.push_back(offset + i * step);
    }
    offsets = std::move(next);
  }
  return offsets;
}

// An index expression with its offsets: for each of `before`, for each of the indices, a block of the rest.
class IndexRun {
 public:
  IndexRun(const Tensor& self, const IndexPlan<Size>& plan, std::span<const Tensor> indices,
           const Tensor& other)
      : self_before_(offsets_of(self, plan.order.span().first(plan.before))),
        after_(after_sizes(self, plan), after_operands(self, plan, other)) {
    Dims dims;
    const size_t index_rank = plan.index_sizes.size();
    for (size_t d = 0; d < plan.before; ++d) dims.push_back(static_cast<int64_t>(d));
    other_before_ = offsets_of(other, dims);
    dims.clear();
    for (size_t d = 0; d < index_rank; ++d) dims.push_back(static_cast<int64_t>(plan.before + d));
    other_index_ = offsets_of(other, dims);
    self_index_.resize(other_index_.size());
    if (element_count(plan.index_sizes) != static_cast<int64_t>(self_index_.size())) {
      throw Error(ErrorCode::kInvalidArgument, "the indices have another shape than what they read or write");
    }
    for (size_t i = 0; i < plan.indexed; ++i) {
      const auto d = static_cast<size_t>(plan.order[plan.before + i]);
      add_index(self, d, indices[d], plan.index_sizes);
    }
  }

  size_t items() const { return self_before_.size() * self_index_.size(); }
  const Walk& after() const { return after_; }
  // Calls body(offset in self, offset in other) for the items [begin, end).
  template <typename Body>
  void for_each(size_t begin, size_t end, Body&& body) const {
    size_t outer = begin / self_index_.size();
    size_t inner = begin % self_index_.size();
    WorkPoller poll;
    for (size_t item = begin; item < end; ++item) {
      poll();
      body(self_before_[outer] + self_index_[inner], other_before_[outer] + other_index_[inner]);
      if (++inner == self_index_.size()) {
        inner = 0;
        ++outer;
      }
    }
  }

 private:
  static Dims after_sizes(const Tensor& self, const IndexPlan<Size>& plan) {
    Dims sizes;
    for (size_t i = plan.before + plan.indexed; i < plan.order.size(); ++i) {
      sizes.push_back(self.sizes()[static_cast<size_t>(plan.order[i])]);
    }
    return sizes;
  }
  // Views of the dimensions after the indexed ones; `other` first, as it is what reading writes.
  std::span<const Tensor* const> after_operands(const Tensor& self, const IndexPlan<Size>& plan,
                                                const Tensor& other) {
    Geometry self_geometry;
    Geometry other_geometry;
    const size_t shift = plan.before + plan.index_sizes.size();
    for (size_t i = plan.before + plan.indexed; i < plan.order.size(); ++i) {
      const auto d = static_cast<size_t>(plan.order[i]);
      const size_t at = shift + i - plan.before - plan.indexed;
      self_geometry.sizes.push_back(self.sizes()[d]);
      self_geometry.strides.push_back(self.strides()[d]);
      other_geometry.sizes.push_back(self.sizes()[d]);
      other_geometry.strides.push_back(other.strides()[at]);
    }
    views_[0] = other.with_geometry(std::move(other_geometry));
    views_[1] = self.with_geometry(std::move(self_geometry));
    pointers_[0] = &views_[0];
    pointers_[1] = &views_[1];
    return pointers_;
  }

  // Adds what one index moves; it broadcasts to the sizes of all.
  void add_index(const Tensor& self, size_t d, const Tensor& index, const Dims& sizes) {
    const int64_t size = self.sizes()[d];
    const int64_t step = self.byte_stride(d);
    std::vector<int64_t> moves = read_indices(index);
    for (int64_t& value : moves) {
      if (value < -size || value >= size) fail_index(value, d, size);
      value = (value < 0 ? value + size : value) * step;
    }
    if (sizes.empty() || self_index_.empty()) {
      if (!self_index_.empty()) self_index_[0] += moves[0];
      return;
    }
    Dims strides(sizes.size(), 0);
    const Dims own = contiguous_strides(index.sizes());
    const size_t shift = sizes.size() - index.dim();
    for (size_t i = 0; i < index.dim(); ++i) {
      if (index.sizes()[i] != 1) strides[shift + i] = own[i];
    }
    const size_t last = sizes.size() - 1;
    const auto row = static_cast<size_t>(sizes[last]);
    Dims at(sizes.size(), 0);
    int64_t offset = 0;
    for (size_t first = 0; first < self_index_.size(); first += row) {
      int64_t* const to = self_index_.data() + first;
      const int64_t* const from = moves.data() + offset;
      if (strides[last] == 0) {
        for (size_t i = 0; i < row; ++i) to[i] += from[0];
      } else {
        for (size_t i = 0; i < row; ++i) to[i] += from[i];
      }
      for (size_t i = last; i-- > 0;) {
        offset += strides[i];
        if (++at[i] < sizes[i]) break;
        offset -= strides[i] * sizes[i];
        at[i] = 0;
      }
    }
  }

  std::vector<int64_t> self_before_;
  std::vector<int64_t> other_before_;
  std::vector<int64_t> self_index_;
  std::vector<int64_t> other_index_;
  Tensor views_[2];
  const Tensor* pointers_[2] = {};
  Walk after_;
};

template <typename Unit>
void read_single(const IndexRun& run, const uint8_t* from, uint8_t* to, size_t begin, size_t end) {
  run.for_each(begin, end, [&](int64_t source, int64_t target) {
    std::memcpy(to + target, from + source, sizeof(Unit));
  });
}

struct Unit16 {
  uint64_t parts[2];
};

}  // namespace

void read_indexed(Context& context, const Tensor& self, const IndexPlan<Size>& plan,
                  std::span<const Tensor> indices, const Tensor& out) {
  const IndexRun run(self, plan, indices, out);
  const Walk& after = run.after();
  if (run.items() == 0 || after.element_count() == 0) return;
  const uint8_t* const from = self.data();
  uint8_t* const to = out.mutable_data();
  const size_t size = self.element_size();
  const auto grain = static_cast<size_t>(std::max<int64_t>(kGrain / 2 / after.element_count(), 1));
  const auto piece = [&](size_t begin, size_t end) {
    if (after.element_count() == 1) {
      switch (size) {
        case 1:
          return read_single<uint8_t>(run, from, to, begin, end);
        case 2:
          return read_single<uint16_t>(run, from, to, begin, end);
        case 4:
          return read_single<uint32_t>(run, from, to, begin, end);
        case 8:
          return read_single<uint64_t>(run, from, to, begin, end);
        default:
          return read_single<Unit16>(run, from, to, begin, end);
      }
    }
    if (after.row_length() == after.element_count()) {
      const auto length = static_cast<size_t>(after.row_length());
      run.for_each(begin, end, [&](int64_t source, int64_t target) {
        copy_row(from + source, after.step(1), to + target, after.step(0), length, size);
      });
      return;
    }
    run.for_each(begin, end, [&](int64_t source, int64_t target) {
      after.for_each(0, after.element_count(), [&](const Walk::Offsets& offsets, int64_t length) {
        copy_row(from + source + offsets[1], after.step(1), to + target + offsets[0], after.step(0),
                 static_cast<size_t>(length), size);
      });
    });
  };
  if (run.items() <= grain) {
    piece(0, run.items());
  } else {
    context.pool().for_each_range(run.items(), grain, piece);
  }
}

void write_indexed(Context&, const Tensor& self, const IndexPlan<Size>& plan, std::span<const Tensor> indices,
                   const Tensor& values, Combine combine) {
  const Tensor view = broadcast_view(values, plan.result.sizes);
  const IndexRun run(self, plan, indices, view);
  const Walk& after = run.after();
  if (run.items() == 0 || after.element_count() == 0) return;
  uint8_t* const to = self.mutable_data();
  const uint8_t* const from = values.data();
  const CombineRow row = combine_row(combine, self.dtype());
  // One thread: the same place may be written twice, and the last one counts.
  run.for_each(0, run.items(), [&](int64_t target, int64_t source) {
    after.for_each(0, after.element_count(), [&](const Walk::Offsets& offsets, int64_t length) {
      row(to + target + offsets[1], after.step(1), from + source + offsets[0], after.step(0),
          static_cast<size_t>(length));
    });
  });
}

std::vector<std::vector<int64_t>> nonzero_positions(const Tensor& tensor) {
  const Tensor packed = tensor.to_contiguous();
  std::vector<std::vector<int64_t>> positions(tensor.dim());
  const auto count = static_cast<size_t>(packed.element_count());
  if (count == 0) return positions;
  ScratchVector<uint8_t> flags(count);
  load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), count, DType::kBool,
              flags.data());
  std::vector<int64_t> index(tensor.dim(), 0);
  WorkPoller poll;
  for (size_t i = 0; i < count; ++i) {
    poll();
    if (flags[i] != 0) {
      for (size_t d = 0; d < index.size(); ++d) positions[d].push_back(index[d]);
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.sizes()[d]) break;
      index[d] = 0;
    }
  }
  return positions;
}

std::vector<Tensor> expand_masks(Context& context, const Tensor& self, std::span<const Tensor> indices) {
  std::vector<Tensor> expanded;
  for (const Tensor& index : indices) {
    if (!index.defined() || (index.dtype() != DType::kBool && index.dtype() != DType::kUInt8)) {
      expanded.push_back(index);
      continue;
    }
    for (size_t j = 0; j < index.dim(); ++j) {
      const size_t d = expanded.size() + j;
      if (d >= self.dim() || index.sizes()[j] != self.sizes()[d]) {
        throw Error(
            ErrorCode::kInvalidArgument,
            fmt::format("The shape of the mask {} at index {} does not match the shape of the indexed "
                        "tensor {} at index {}",
                        Value(index.sizes()).summary(), j, Value(self.sizes()).summary(), d));
      }
    }
    for (const std::vector<int64_t>& positions : nonzero_positions(index)) {
      Tensor made = context.allocate(DType::kInt64, Dims{static_cast<int64_t>(positions.size())});
      if (!positions.empty()) {
        std::memcpy(made.mutable_data(), positions.data(), positions.size() * sizeof(int64_t));
      }
      expanded.push_back(std::move(made));
    }
  }
  return expanded;
}

}  // namespace flambeau::ops
