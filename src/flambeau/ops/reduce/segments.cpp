// Reductions of the segments of a dimension, whose lengths or bounds another tensor says; and the exclusive
// or of elements.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/norm/row_access.h"

namespace flambeau::ops {
namespace {

[[noreturn]] void refuse_segments(std::string_view why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("segment_reduce(): {}", why));
}

enum class Segment : uint8_t { kSum, kMean, kMax, kMin, kProd };
Segment segment_kind(std::string_view name) {
  if (name == "sum") return Segment::kSum;
  if (name == "mean") return Segment::kMean;
  if (name == "max" || name == "amax") return Segment::kMax;
  if (name == "min" || name == "amin") return Segment::kMin;
  if (name == "prod") return Segment::kProd;
  refuse_segments(fmt::format("reduce argument must be either sum, prod, mean, amax or amin, got {}", name));
}

template <typename N>
Info<N> segment_shape(const Info<N>& data, std::string_view reduce, const Info<N>* lengths,
                      const Info<N>* indices, const Info<N>* offsets, Size axis, bool,
                      std::optional<Scalar>) {
  segment_kind(reduce);
  if (data.dim() == 0) refuse_segments("expected data of at least one dimension");
  if (indices != nullptr) refuse_segments("indices based reduction is not supported yet.");
  const size_t along = wrap_dim(axis, data.dim());
  const Info<N>* const said = offsets != nullptr ? offsets : lengths;
  if (said == nullptr) refuse_segments("Either lengths or offsets must be defined.");
  if (said->dtype != DType::kInt32 && said->dtype != DType::kInt64)
    refuse_segments("expected lengths and offsets to be int32 or int64");
  if (said->dim() != along + 1) {
    refuse_segments(fmt::format("Expected axis to be the last dimension of {} but got {}.",
                                offsets != nullptr ? "offsets" : "lengths", axis));
  }
  ShortList<N> sizes = data.sizes;
  for (size_t d = 0; d < along; ++d) {
    if (!(said->sizes[d] == sizes[d]))
      refuse_segments("expected data and its segments to have the same sizes before the axis");
  }
  sizes[along] = offsets != nullptr ? said->sizes[along] - N(1) : said->sizes[along];
  if (sizes[along] < N(0)) refuse_segments("offsets need at least one bound");
  return contiguous<N>(data.dtype, sizes, data.device);
}

template <typename T>
T combined(Segment kind, T state, T x) {
  switch (kind) {
    case Segment::kMax:
      return std::isnan(x) || std::isnan(state) ? std::numeric_limits<T>::quiet_NaN() : std::max(state, x);
    case Segment::kMin:
      return std::isnan(x) || std::isnan(state) ? std::numeric_limits<T>::quiet_NaN() : std::min(state, x);
    case Segment::kProd:
      return state * x;
    default:
      return state + x;
  }
}
template <typename T>
T first_state(Segment kind) {
  const T infinity = std::numeric_limits<T>::infinity();
  return kind == Segment::kMax    ? -infinity
         : kind == Segment::kMin  ? infinity
         : kind == Segment::kProd ? T(1)
                                  : T(0);
}

// Where the segments of every row begin, and where the last one ends; each within the axis.
std::vector<int64_t> segment_bounds(std::span<const int64_t> said, bool are_offsets, int64_t rows,
                                    int64_t length, bool unsafe) {
  const auto count = rows == 0 ? 0 : static_cast<int64_t>(said.size()) / rows;
  if (are_offsets) {
    for (int64_t r = 0; r < rows; ++r) {
      int64_t before = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = said[static_cast<size_t>(r * count + i)];
        if (at < before || at > length)
          refuse_segments(fmt::format("offset {} is not between the one before it and {}", at, length));
        before = at;
      }
    }
    return {said.begin(), said.end()};
  }
  std::vector<int64_t> bounds;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t at = 0;
    bounds.push_back(at);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t more = said[static_cast<size_t>(r * count + i)];
      if (more < 0) refuse_segments("lengths contains negative value!");
      if (more > length - at)
        refuse_segments(
            "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.");
      bounds.push_back(at += more);
    }
    if (at != length && !unsafe)
      refuse_segments(
          "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.");
  }
  return bounds;
}

template <typename T>
void run_segments(const Tensor& data, Segment kind, std::span<const int64_t> bounds, size_t along,
                  const std::optional<Scalar>& initial, Tensor& out) {
  int64_t rows = 1;
  int64_t inner = 1;
  for (size_t d = 0; d < along; ++d) rows *= data.sizes()[d];
  for (size_t d = along + 1; d < data.dim(); ++d) inner *= data.sizes()[d];
  const int64_t length = data.sizes()[along];
  const int64_t count = out.sizes()[along];
  const T start = initial ? static_cast<T>(initial->to_double()) : first_state<T>(kind);
  RowReader<T> reader(data);
  RowWriter<T> writer(out);
  WorkPoller poll;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t s = 0; s < count; ++s) {
      T* const to = writer.begin((r * count + s) * inner, static_cast<size_t>(inner));
      std::fill_n(to, inner, start);
      const int64_t begin = bounds[static_cast<size_t>(r * (count + 1) + s)];
      const int64_t end = bounds[static_cast<size_t>(r * (count + 1) + s + 1)];
      for (int64_t j = begin; j < end; ++j) {
        poll(static_cast<size_t>(inner) + 1);
        const T* const from = reader.read((r * length + j) * inner, static_cast<size_t>(inner));
        for (int64_t i = 0; i < inner; ++i) to[i] = combined(kind, to[i], from[i]);
      }
      if (kind == Segment::kMean && (end > begin || !initial)) {
        const T divisor = end > begin ? static_cast<T>(end - begin) : std::numeric_limits<T>::quiet_NaN();
        for (int64_t i = 0; i < inner; ++i) to[i] /= divisor;
      }
      writer.finish();
    }
  }
}
void segment_kernel(Context&, const Tensor& data, std::string_view reduce, const Tensor* lengths,
                    const Tensor*, const Tensor* offsets, Size axis, bool unsafe,
                    std::optional<Scalar> initial, Tensor& out) {
  if (!is_floating(data.dtype())) fail_dtype("_segment_reduce_cpu", data.dtype());
  const size_t along = wrap_dim(axis, data.dim());
  int64_t rows = 1;
  for (size_t d = 0; d < along; ++d) rows *= data.sizes()[d];
  const std::vector<int64_t> said = read_indices(offsets != nullptr ? *offsets : *lengths);
  const std::vector<int64_t> bounds =
      segment_bounds(said, offsets != nullptr, rows, data.sizes()[along], unsafe);
  if (out.element_count() == 0) return;
  const Tensor packed = data.to_contiguous();
  if (data.dtype() == DType::kFloat64) {
    run_segments<double>(packed, segment_kind(reduce), bounds, along, initial, out);
  } else {
    run_segments<float>(packed, segment_kind(reduce), bounds, along, initial, out);
  }
}

// ---- the exclusive or of all elements' bits: floating ones as double, others as int64
struct BitsOp {
  template <typename T>
  using State = uint64_t;
  template <typename T>
  uint64_t start() const {
    return 0;
  }
  template <typename T>
  void add(uint64_t& state, T x, int64_t) const {
    state ^= std::bit_cast<uint64_t>(x);
  }
  template <typename T>
  void merge(uint64_t& state, const uint64_t& other) const {
    state ^= other;
  }
  template <typename T>
  void finish(const uint64_t& state, int64_t, void* const* outputs, size_t i) const {
    static_cast<uint64_t*>(outputs[0])[i] = state;
  }
};

template <typename N>
Info<N> hash_shape(const Info<N>& self, std::span<const Size> dims, bool keep, Size mode) {
  if (mode != 0) throw Error(ErrorCode::kInvalidArgument, fmt::format("Unknown hash_tensor mode: {}", mode));
  if (is_complex(self.dtype)) fail_dtype("hash_tensor", self.dtype);
  if (dims.empty() && self.element_count() == N(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
                "reduction dim with the 'dim' argument.");
  }
  return reduced_info(DType::kUInt64, self, reduced_dims(dims, self.dim()), keep);
}
void hash_kernel(Context& context, const Tensor& self, std::span<const Size> dims, bool, Size, Tensor& out) {
  const bool floats = is_floating(self.dtype());
  const DType row = floats ? DType::kFloat64 : DType::kInt64;
  const BitsOp op;
  const Fold fold = floats ? FoldOf<BitsOp, double>::make(row) : FoldOf<BitsOp, int64_t>::make(row);
  const Output outputs[] = {{&out, DType::kUInt64}};
  run_fold(context, self, row, reduced_dims(dims, self.dim()), fold, outputs, &op);
}

}  // namespace

void define_segments(Library& library) {
  library
      .define(
          "aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
          "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor")
      .shape<segment_shape<Size>, segment_shape<SymInt>>()
      .kernel<segment_kernel>();
  library.define("aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor")
      .shape<hash_shape<Size>, hash_shape<SymInt>>()
      .kernel<hash_kernel>();
}

}  // namespace flambeau::ops
