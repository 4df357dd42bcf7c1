// Elements picked, or written, along a dimension, at an index of their own each.
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

// The tensor that is indexed, the index (packed int64), and a third tensor that lies like the index: what is
// written when gathering, what is read when scattering. Tensors without dimensions count as vectors.
struct Lines {
  Lines(Context& context, const Tensor& self, int64_t wanted, const Tensor& index_tensor, const Tensor& third)
      : dim(wrap_dim(wanted, self.dim())), index(packed_indices(context, index_tensor)) {
    sizes = index.sizes();
    for (size_t d = 0; d < self.dim(); ++d) self_strides.push_back(self.byte_stride(d));
    for (size_t d = 0; d < third.dim(); ++d) third_strides.push_back(third.byte_stride(d));
    size = self.dim() == 0 ? 1 : self.sizes()[dim];
    if (sizes.empty()) sizes.push_back(1);
    if (self_strides.empty()) self_strides.push_back(0);
    if (third_strides.empty()) third_strides.push_back(0);
    while (third_strides.size() < sizes.size()) third_strides.insert(0, 0);
    row = sizes.back();
    rows = row == 0 ? 0 : index.element_count() / row;
  }

  // Calls body(offset in self, offset in third) for every element of the rows [begin, end).
  template <typename Body>
  void for_each(int64_t begin, int64_t end, Body&& body) const {
    const size_t last = sizes.size() - 1;
    const int64_t* const values = index.data<int64_t>();
    const int64_t along = self_strides[dim];
    const int64_t step = dim == last ? 0 : self_strides[last];
    // What the body writes could be anything, members included.
    const int64_t third_step = third_strides[last], most = size, count = row;
    WorkPoller poll;
    for (int64_t r = begin; r < end; ++r) {
      poll(static_cast<size_t>(count));
      int64_t rest = r;
      int64_t own = 0;
      int64_t other = 0;
      for (size_t d = last; d-- > 0;) {
        const int64_t at = rest % sizes[d];
        rest /= sizes[d];
        if (d != dim) own += at * self_strides[d];
        other += at * third_strides[d];
      }
      const int64_t* const line = values + r * count;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t value = line[i];
        if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(most)) fail_index(value, dim, most);
        body(own + i * step + value * along, other + i * third_step);
      }
    }
  }

  size_t dim;
  Tensor index;
  Dims sizes;
  Dims self_strides;
  Dims third_strides;
  int64_t size;
  int64_t row;
  int64_t rows;
};

template <typename N>
void check_index(const Info<N>& self, int64_t dim, const Info<N>& index, const Info<N>* src,
                 const char* name) {
  const size_t d = wrap_dim(dim, self.dim());
  if (index.element_count() == N(0)) return;
  if (index.dtype != DType::kInt64 && index.dtype != DType::kInt32) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}(): Expected dtype int32/int64 for index", name));
  }
  const auto rank = [](const Info<N>& info) { return info.dim() == 0 ? 1 : info.dim(); };
  if (rank(self) != rank(index)) {
    throw Error(ErrorCode::kInvalidArgument,
                "Index tensor must have the same number of dimensions as input tensor");
  }
  if (src != nullptr && rank(*src) != rank(index)) {
    throw Error(ErrorCode::kInvalidArgument,
                "Index tensor must have the same number of dimensions as src tensor");
  }
  for (size_t i = 0; i < index.dim() && i < self.dim(); ++i) {
    if (i != d && index.sizes[i] > self.sizes[i]) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("Size does not match at dimension {} expected index {} to be no larger than self {} "
                      "apart from dimension {}",
                      i, number_text(index.sizes[i]), number_text(self.sizes[i]), d));
    }
  }
  for (size_t i = 0; src != nullptr && i < index.dim(); ++i) {
    const N size = src->dim() == 0 ? N(1) : src->sizes[i];
    if (index.sizes[i] > size) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("Expected index {} to be no larger than src {} at dimension {}",
                              number_text(index.sizes[i]), number_text(size), i));
    }
  }
}

template <typename Unit>
void gather_units(const Lines& lines, const uint8_t* from, uint8_t* to, int64_t begin, int64_t end) {
  lines.for_each(begin, end, [&](int64_t source, int64_t target) {
    std::memcpy(to + target, from + source, sizeof(Unit));
  });
}
struct Unit16 {
  uint64_t parts[2];
};

void run_gather(Context& context, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  const Lines lines(context, self, dim, index, out);
  const uint8_t* const from = self.data();
  uint8_t* const to = out.mutable_data();
  const auto piece = [&](size_t first, size_t last) {
    const auto begin = static_cast<int64_t>(first);
    const auto end = static_cast<int64_t>(last);
    switch (self.element_size()) {
      case 1:
        return gather_units<uint8_t>(lines, from, to, begin, end);
      case 2:
        return gather_units<uint16_t>(lines, from, to, begin, end);
      case 4:
        return gather_units<uint32_t>(lines, from, to, begin, end);
      case 8:
        return gather_units<uint64_t>(lines, from, to, begin, end);
      default:
        return gather_units<Unit16>(lines, from, to, begin, end);
    }
  };
  const auto grain = static_cast<size_t>(std::max<int64_t>(kGrain / std::max<int64_t>(lines.row, 1), 1));
  context.pool().for_each_range(static_cast<size_t>(lines.rows), grain, piece);
}

template <typename N>
Info<N> gather_shape(const Info<N>& self, Size dim, const Info<N>& index, bool) {
  check_index<N>(self, dim, index, nullptr, "gather");
  return contiguous<N>(self.dtype, index.sizes, self.device);
}
void gather_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index, bool, Tensor& out) {
  run_gather(context, self, dim, index, out);
}

// Both broadcast to each other, save along the dimension.
template <typename N>
Info<N> take_along_shape(const Info<N>& self, const Info<N>& indices, std::optional<Size> dim) {
  if (indices.dtype != DType::kInt64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("torch.take_along_dim(): dtype of indices should be Long but got {}",
                            dtype_name(indices.dtype)));
  }
  if (!dim) return contiguous<N>(self.dtype, {indices.element_count()}, self.device);
  if (self.dim() != indices.dim()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("torch.take_along_dim(): input and indices should have the same number of dimensions, "
                    "but got {} dimensions for input, and {} dimensions for indices",
                    self.dim(), indices.dim()));
  }
  const size_t d = wrap_dim(*dim, self.dim());
  ShortList<N> own = self.sizes;
  if (!own.empty()) own[d] = indices.sizes[d];
  return contiguous<N>(self.dtype, broadcast(own, indices.sizes), self.device);
}
// Unlike gather, it counts negative indices from the end.
Tensor counted_from_start(Context& context, const Tensor& indices, int64_t size) {
  Tensor counted = context.allocate(DType::kInt64, indices.sizes());
  copy_into(context, indices, counted);
  int64_t* const values = counted.mutable_data<int64_t>();
  for (int64_t i = 0; i < counted.element_count(); ++i) values[i] += values[i] < 0 ? size : 0;
  return counted;
}
void take_along_kernel(Context& context, const Tensor& self, const Tensor& given, std::optional<Size> dim,
                       Tensor& out) {
  const int64_t size = !dim              ? self.element_count()
                       : self.dim() == 0 ? 1
                                         : self.sizes()[wrap_dim(*dim, self.dim())];
  const Tensor indices = counted_from_start(context, given, size);
  if (!dim) {
    const Tensor packed = self.to_contiguous();
    const Tensor index = packed_indices(context, indices);
    run_gather(context, packed.with_geometry({{self.element_count()}, {1}, packed.offset()}), 0,
               index.with_geometry({out.sizes(), {1}, index.offset()}), out);
    return;
  }
  Dims own = out.sizes();
  const size_t d = wrap_dim(*dim, self.dim());
  if (!own.empty()) own[d] = self.sizes()[d];
  run_gather(context, broadcast_view(self, own), *dim, broadcast_view(indices, out.sizes()), out);
}

// ---- scatter
void scatter(Context& context, int64_t dim, const Tensor& index, const Tensor& src, Combine combine,
             Tensor& out) {
  if (index.element_count() == 0) return;
  const Lines lines(context, out, dim, index, src);
  const CombineRow row = combine_row(combine, out.dtype());
  uint8_t* const to = out.mutable_data();
  const uint8_t* const from = src.data();
  if (combine == Combine::kAdd && out.dtype() == DType::kFloat32) {
    // What models do most: without a call for each element.
    return lines.for_each(0, lines.rows, [&](int64_t target, int64_t source) {
      float sum = 0;
      float more = 0;
      std::memcpy(&sum, to + target, sizeof(sum));
      std::memcpy(&more, from + source, sizeof(more));
      sum += more;
      std::memcpy(to + target, &sum, sizeof(sum));
    });
  }
  lines.for_each(0, lines.rows,
                 [&](int64_t target, int64_t source) { row(to + target, 0, from + source, 0, 1); });
}

template <typename N>
Info<N> scatter_info(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>* src) {
  check_index(self, dim, index, src, "scatter");
  if (src != nullptr && src->dtype != self.dtype) {
    throw Error(ErrorCode::kInvalidArgument, "scatter(): Expected self.dtype to be equal to src.dtype");
  }
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
Combine named(std::string_view reduce) {
  if (reduce == "add" || reduce == "sum" || reduce == "mean") return Combine::kAdd;
  if (reduce == "multiply" || reduce == "prod") return Combine::kMultiply;
  if (reduce == "amax") return Combine::kLargest;
  if (reduce == "amin") return Combine::kSmallest;
  throw Error(ErrorCode::kInvalidArgument,
              "reduce argument must be either sum, prod, mean, amax or amin, got " + std::string(reduce));
}

template <typename N>
Info<N> scatter_src_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& src) {
  return scatter_info(self, dim, index, &src);
}
template <Combine kCombine>
void scatter_src_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  copy_into(context, self, out);
  scatter(context, dim, index, src, kCombine, out);
}
template <typename N>
Info<N> scatter_value_shape(const Info<N>& self, Size dim, const Info<N>& index, Scalar) {
  return scatter_info<N>(self, dim, index, nullptr);
}
void scatter_value_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index, Scalar value,
                          Tensor& out) {
  copy_into(context, self, out);
  scatter(context, dim, index, broadcast_view(scalar_tensor(value, out.dtype()), index.sizes()),
          Combine::kReplace, out);
}
template <typename N>
Info<N> scatter_reduce_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& src,
                             std::string_view) {
  return scatter_info(self, dim, index, &src);
}
void scatter_reduce_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                           const Tensor& src, std::string_view reduce, Tensor& out) {
  copy_into(context, self, out);
  scatter(context, dim, index, src, named(reduce), out);
}
template <typename N>
Info<N> scatter_value_reduce_shape(const Info<N>& self, Size dim, const Info<N>& index, Scalar,
                                   std::string_view) {
  return scatter_info<N>(self, dim, index, nullptr);
}
void scatter_value_reduce_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                                 Scalar value, std::string_view reduce, Tensor& out) {
  copy_into(context, self, out);
  scatter(context, dim, index, broadcast_view(scalar_tensor(value, out.dtype()), index.sizes()),
          named(reduce), out);
}

// ---- scatter_reduce
Scalar identity_of(std::string_view reduce, DType dtype) {
  const bool floats = is_floating(dtype);
  const auto bits = static_cast<int>(dtype_size(dtype) * 8);
  const bool is_unsigned = dtype == DType::kUInt8 || dtype == DType::kBool;
  if (reduce == "prod") return 1;
  if (reduce == "amax") {
    if (floats) return -std::numeric_limits<double>::infinity();
    return is_unsigned ? int64_t{0} : std::numeric_limits<int64_t>::min() >> (64 - bits);
  }
  if (reduce == "amin") {
    if (floats) return std::numeric_limits<double>::infinity();
    if (dtype == DType::kBool) return 1;
    return is_unsigned ? int64_t{255} : std::numeric_limits<int64_t>::max() >> (64 - bits);
  }
  return 0;
}

template <typename N>
Info<N> scatter_reduce_two_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& src,
                                 std::string_view, bool) {
  return scatter_info(self, dim, index, &src);
}

// Divides each place by how many elements met there; integers are floored.
void divide_by_counts(std::span<const int64_t> counts, Tensor& out) {
  const auto step = static_cast<int64_t>(out.element_size());
  WorkPoller poll;
  for (size_t i = 0; i < counts.size(); ++i) {
    poll();
    if (counts[i] <= 1) continue;
    uint8_t* const place = out.mutable_data() + static_cast<int64_t>(i) * step;
    if (is_integral(out.dtype())) {
      int64_t value = 0;
      load_packed(out.dtype(), place, step, 1, DType::kInt64, &value);
      int64_t quotient = value / counts[i];
      if (value % counts[i] < 0) --quotient;
      store_packed(DType::kInt64, &quotient, 1, out.dtype(), place, step);
    } else {
      std::complex<double> value;
      load_packed(out.dtype(), place, step, 1, DType::kComplex128, &value);
      value /= static_cast<double>(counts[i]);
      store_packed(DType::kComplex128, &value, 1, out.dtype(), place, step);
    }
  }
}

void scatter_reduce_two_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                               const Tensor& src, std::string_view reduce, bool include_self, Tensor& out) {
  const Combine combine = named(reduce);
  copy_into(context, self, out);
  if (index.element_count() == 0) return;
  if (!include_self) {
    scatter(context, dim, index,
            broadcast_view(scalar_tensor(identity_of(reduce, out.dtype()), out.dtype()), index.sizes()),
            Combine::kReplace, out);
  }
  scatter(context, dim, index, src, combine, out);
  if (reduce != "mean") return;
  ScratchVector<int64_t> counts(static_cast<size_t>(out.element_count()), include_self ? 1 : 0);
  const Lines lines(context, out, dim, index, src);
  const auto size = static_cast<int64_t>(out.element_size());
  lines.for_each(0, lines.rows,
                 [&](int64_t target, int64_t) { ++counts[static_cast<size_t>(target / size)]; });
  divide_by_counts(counts, out);
}

// The same for whole slices.
template <typename N>
Info<N> index_reduce_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& source,
                           std::string_view, bool) {
  const size_t d = wrap_dim(dim, self.dim());
  const bool has_dim = d < source.dim();
  if (index.dim() > 1 || (has_dim && !(index.element_count() == source.sizes[d]))) {
    throw Error(ErrorCode::kInvalidArgument,
                "index_reduce_(): Number of indices should be equal to source.size(dim)");
  }
  if (source.dtype != self.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                "index_reduce_(): self and source expected to have the same dtype");
  }
  bool fits = source.dim() == self.dim();
  for (size_t i = 0; fits && i < self.dim(); ++i) fits = i == d || source.sizes[i] == self.sizes[i];
  if (!fits || (source.dim() == 0 && !(index.element_count() == N(1)))) {
    throw Error(ErrorCode::kInvalidArgument,
                "index_reduce_(): Source/destination tensor must have same slice shapes");
  }
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
void index_reduce_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                         const Tensor& source, std::string_view reduce, bool include_self, Tensor& out) {
  // The vector of indices, seen with the source's sizes.
  const size_t d = wrap_dim(dim, self.dim());
  const Tensor packed = packed_indices(context, index);
  Geometry geometry{source.sizes(), Dims(source.dim(), 0), packed.offset()};
  if (source.dim() > 0) geometry.strides[d] = 1;
  scatter_reduce_two_kernel(context, self, dim, packed.with_geometry(std::move(geometry)), source, reduce,
                            include_self, out);
}

// Without a dimension it stays one operator.
std::optional<Tensor> take_along_parts(Context& c, const Tensor& self, const Tensor& indices,
                                       std::optional<Size> given_dim) {
  if (!given_dim) return std::nullopt;
  const int64_t dim = wrapped_dim(*given_dim, rank_of(self));
  const auto widened = [&](const Tensor& x, const Tensor& other) {
    SymIntList sizes = sizes_of(x);
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (static_cast<int64_t>(d) != dim && sizes[d] == SymInt(1)) sizes[d] = sizes_of(other)[d];
    }
    return call(c, "aten::expand", x, sizes);
  };
  const Tensor index = widened(indices, self);
  const Tensor source = widened(self, indices);
  const Tensor places = call(c, "aten::remainder.Scalar", index, size_of(self, dim));
  return call(c, "aten::gather", source, dim, places);
}

}  // namespace

void define_gather(Library& library) {
  library.define("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor")
      .shape<gather_shape<Size>, gather_shape<SymInt>>()
      .kernel<gather_kernel>()
      .is(Trait::kExactOut)
      .is(Trait::kApartOut);
  library.define("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
      .shape<take_along_shape<Size>, take_along_shape<SymInt>>()
      .kernel<take_along_kernel>()
      .composite<take_along_parts>();
  library.define("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
      .shape<scatter_src_shape<Size>, scatter_src_shape<SymInt>>()
      .kernel<scatter_src_kernel<Combine::kReplace>>();
  library.define("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
      .shape<scatter_src_shape<Size>, scatter_src_shape<SymInt>>()
      .kernel<scatter_src_kernel<Combine::kAdd>>();
  library.define("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
      .shape<scatter_value_shape<Size>, scatter_value_shape<SymInt>>()
      .kernel<scatter_value_kernel>();
  library
      .define("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor")
      .shape<scatter_reduce_shape<Size>, scatter_reduce_shape<SymInt>>()
      .kernel<scatter_reduce_kernel>();
  library
      .define(
          "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> "
          "Tensor")
      .shape<scatter_value_reduce_shape<Size>, scatter_value_reduce_shape<SymInt>>()
      .kernel<scatter_value_reduce_kernel>();
  library
      .define(
          "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
          "include_self=True) -> Tensor")
      .shape<scatter_reduce_two_shape<Size>, scatter_reduce_two_shape<SymInt>>()
      .kernel<scatter_reduce_two_kernel>();
  library
      .define(
          "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
          "include_self=True) -> Tensor")
      .shape<index_reduce_shape<Size>, index_reduce_shape<SymInt>>()
      .kernel<index_reduce_kernel>();
}

}  // namespace flambeau::ops
