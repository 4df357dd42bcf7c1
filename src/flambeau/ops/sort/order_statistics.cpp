// Medians, the most frequent element, and quantiles, along a dimension.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/base/stoppable.h"
#include "flambeau/ops/engines/lines.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

// Of the numbers, or NaN where there is one unless it is to be skipped; equal ones by their position.
template <typename T, bool kSkipsNan>
size_t median_at(const T* x, size_t length) {
  size_t nans = 0;
  if constexpr (!std::is_integral_v<T>) {
    for (size_t i = 0; i < length; ++i) {
      if (x[i] == x[i]) continue;
      if (!kSkipsNan) return i;
      ++nans;
    }
  }
  ScratchVector<size_t> order(length);
  std::iota(order.begin(), order.end(), size_t{0});
  // All NaN: (n - n - 1) / 2 is 0 in PyTorch's signed numbers.
  const size_t at = nans == length ? 0 : (length - nans - 1) / 2;
  WorkPoller poll;
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at), order.end(),
                   stoppable(poll, [&](size_t i, size_t j) {
                     return x[i] < x[j] || (x[i] == x[j] && i < j) || (x[j] != x[j] && x[i] == x[i]);
                   }));
  return order[at];
}
template <typename T, bool kSkipsNan>
void median_line(const void* input, size_t length, void* const* outputs, const void*) {
  if constexpr (!kIsComplex<T>) {
    const T* const x = static_cast<const T*>(input);
    const size_t at = median_at<T, kSkipsNan>(x, length);
    *static_cast<T*>(outputs[0]) = x[at];
    *static_cast<int64_t*>(outputs[1]) = static_cast<int64_t>(at);
  }
}

// Of equally frequent ones the smallest; its last position in the sorted order.
template <typename T>
void mode_line(const void* input, size_t length, void* const* outputs, const void*) {
  if constexpr (!kIsComplex<T>) {
    const T* const x = static_cast<const T*>(input);
    ScratchVector<std::pair<T, int64_t>> elements(length);
    for (size_t i = 0; i < length; ++i) elements[i] = {x[i], static_cast<int64_t>(i)};
    WorkPoller poll;
    std::sort(elements.begin(), elements.end(), stoppable(poll, [](const auto& a, const auto& b) {
                return (a.first == a.first && b.first != b.first) || a.first < b.first;
              }));
    std::pair<T, int64_t> best{};
    size_t most = 0;
    size_t run = 0;
    for (size_t i = 0; i < length; ++i) {
      ++run;
      if (i + 1 < length && elements[i].first == elements[i + 1].first) continue;
      if (run > most) {
        best = elements[i];
        most = run;
      }
      run = 0;
    }
    *static_cast<T*>(outputs[0]) = best.first;
    *static_cast<int64_t*>(outputs[1]) = best.second;
  }
}

template <typename N>
std::tuple<Info<N>, Info<N>> line_shape(const Info<N>& self, Size dim, bool keep) {
  const DimFlags reduced = one_dim(dim, self.dim());
  if (self.dim() > 0 && self.element_count() == N(0) && self.sizes[wrap_dim(dim, self.dim())] == N(0)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("median(): Expected reduction dim {} to have non-zero size.", wrap_dim(dim, self.dim())));
  }
  return {reduced_info(self.dtype, self, reduced, keep), reduced_info(DType::kInt64, self, reduced, keep)};
}

void run_line(Context& context, const Tensor& self, int64_t dim, Line line, Tensor& values, Tensor& indices) {
  const size_t d = wrap_dim(dim, self.dim());
  const DType row = compute_dtype(self.dtype());
  const Tensor value_lines = with_dim(values, d, self.dim());
  const Tensor index_lines = with_dim(indices, d, self.dim());
  const LineOutput outputs[] = {{&value_lines, row}, {&index_lines, DType::kInt64}};
  run_lines(context, self, d, row, line, outputs, nullptr, 20);
}

template <bool kSkipsNan>
void median_kernel(Context& context, const Tensor& self, Size dim, bool, Tensor& values, Tensor& indices) {
  if (is_complex(self.dtype()) || self.dtype() == DType::kBool) fail_dtype("median_out", self.dtype());
  run_line(context, self, dim,
           with_compute_type(self.dtype(), []<typename T>(T) -> Line { return median_line<T, kSkipsNan>; }),
           values, indices);
}
void mode_kernel(Context& context, const Tensor& self, Size dim, bool, Tensor& values, Tensor& indices) {
  if (is_complex(self.dtype())) fail_dtype("mode_cpu", self.dtype());
  run_line(context, self, dim,
           with_compute_type(self.dtype(), []<typename T>(T) -> Line { return mode_line<T>; }), values,
           indices);
}

template <typename N>
Info<N> median_all_shape(const Info<N>& self) {
  return contiguous<N>(self.dtype, {}, self.device);
}
template <bool kSkipsNan>
void median_all_kernel(Context& context, const Tensor& self, Tensor& out) {
  if (is_complex(self.dtype()) || self.dtype() == DType::kBool) fail_dtype("median_cpu", self.dtype());
  if (self.element_count() == 0) {
    fill(context, out, is_floating(self.dtype()) ? Scalar(NAN) : Scalar(int64_t{0}));
    return;
  }
  const Tensor packed = self.to_contiguous();
  Tensor index = context.allocate(DType::kInt64, Dims{1});
  Tensor value = out.with_geometry({{1}, {1}, out.offset()});
  median_kernel<kSkipsNan>(context, packed.with_geometry({{self.element_count()}, {1}, packed.offset()}), 0,
                           true, value, index);
}

// ---- quantile
template <typename T>
T interpolate(T below, T above, T weight, std::string_view how, T rank) {
  if (how == "lower") return below;
  if (how == "higher") return above;
  if (how == "midpoint") return below + (above - below) * T(0.5);
  if (how == "nearest") return std::nearbyint(rank) > std::floor(rank) ? above : below;
  // As PyTorch's lerp: from the nearer end.
  return weight < T(0.5) ? below + weight * (above - below) : above - (above - below) * (T(1) - weight);
}

template <typename T>
void quantiles(ScratchVector<T>& line, const ScratchVector<T>& q, bool skips_nan, std::string_view how,
               T* out, int64_t step) {
  WorkPoller poll;
  std::sort(line.begin(), line.end(), stoppable(poll, [](T a, T b) { return (a == a && b != b) || a < b; }));
  const auto nans = static_cast<size_t>(std::count_if(line.begin(), line.end(), [](T x) { return x != x; }));
  for (size_t i = 0; i < q.size(); ++i) {
    T& to = out[static_cast<int64_t>(i) * step];
    if ((nans > 0 && !skips_nan) || nans == line.size()) {
      to = T(NAN);
      continue;
    }
    const T rank = q[i] * static_cast<T>(line.size() - nans - 1);
    const auto below = static_cast<size_t>(std::floor(rank));
    const auto above = static_cast<size_t>(std::ceil(rank));
    to = interpolate(line[below], line[above], rank - static_cast<T>(below), how, rank);
  }
}

// The quantiles of one line lie together; their dimension is the first nevertheless.
template <typename N>
Info<N> quantile_info(const Info<N>& self, const ShortList<N>& wanted, std::optional<Size> dim, bool keep) {
  if (wanted.size() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "quantile() q must be a scalar or 1D tensor");
  }
  const size_t d = dim ? wrap_dim(*dim, self.dim()) : 0;
  ShortList<N> sizes;
  for (size_t i = 0; i < self.dim(); ++i) {
    if (dim && i != d) {
      sizes.push_back(self.sizes[i]);
    } else if (keep) {
      sizes.push_back(N(1));
    }
  }
  ShortList<N> packed = sizes;
  packed.push_back(wanted.empty() ? N(1) : wanted[0]);
  Info<N> info = contiguous<N>(self.dtype, packed, self.device);
  info.sizes = sizes;
  info.strides.erase(sizes.size());
  if (!wanted.empty()) {
    info.sizes.insert(0, wanted[0]);
    info.strides.insert(0, N(1));
  }
  return info;
}
template <typename N>
Info<N> quantile_shape(const Info<N>& self, const Info<N>& q, std::optional<Size> dim, bool keep,
                       std::string_view) {
  return quantile_info<N>(self, q.sizes, dim, keep);
}
template <typename N>
Info<N> quantile_scalar_shape(const Info<N>& self, double, std::optional<Size> dim, bool keep,
                              std::string_view) {
  return quantile_info<N>(self, {}, dim, keep);
}

template <typename T>
Tensor run_quantile(Context& context, const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                    bool keep, std::string_view how, bool skips_nan) {
  const size_t rank = self.dim();
  const size_t d = dim ? wrap_dim(*dim, rank) : 0;
  ScratchVector<T> wanted(static_cast<size_t>(q.element_count()));
  const Tensor packed_q = q.to_contiguous();
  std::copy_n(packed_q.data<T>(), wanted.size(), wanted.begin());
  for (const T value : wanted) {
    if (!(value >= 0 && value <= 1)) {
      throw Error(ErrorCode::kInvalidArgument, "quantile() q values must be in the range [0, 1]");
    }
  }
  const int64_t wanted_count = q.element_count();
  Tensor out = context.allocate(quantile_info<Size>(info_of(self), ShortList<Size>(q.sizes()), dim, keep));
  Tensor lines = self;
  if (dim && rank > 0) {
    Geometry geometry = self.geometry();
    const int64_t size = geometry.sizes[d];
    const int64_t stride = geometry.strides[d];
    geometry.sizes.erase(d);
    geometry.strides.erase(d);
    geometry.sizes.push_back(size);
    geometry.strides.push_back(stride);
    lines = self.with_geometry(std::move(geometry));
  }
  lines = lines.to_contiguous();
  const int64_t length = dim && rank > 0 ? lines.sizes().back() : self.element_count();
  if (length == 0) {
    throw Error(ErrorCode::kInvalidArgument, "quantile() input tensor must be non-empty");
  }
  // Beyond that a rank in float may round up to an element that is not there.
  if (length > int64_t{1} << 24) {
    throw Error(ErrorCode::kInvalidArgument, "quantile() input tensor is too large");
  }
  const int64_t rows = lines.element_count() / length;
  ScratchVector<T> line;
  for (int64_t row = 0; row < rows; ++row) {
    line.assign(lines.data<T>() + row * length, lines.data<T>() + (row + 1) * length);
    quantiles(line, wanted, skips_nan, how, out.mutable_data<T>() + row * wanted_count, 1);
  }
  return out;
}

template <bool kSkipsNan>
Tensor quantile(Context& context, const Tensor& self, const Tensor& q, std::optional<Size> dim, bool keep,
                std::string_view how) {
  if (self.dtype() != DType::kFloat32 && self.dtype() != DType::kFloat64) {
    throw Error(ErrorCode::kInvalidArgument, "quantile() input tensor must be either float or double dtype");
  }
  if (q.dtype() != self.dtype()) {
    throw Error(ErrorCode::kInvalidArgument, "quantile() q tensor must be same dtype as the input tensor");
  }
  if (q.dim() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "quantile() q must be a scalar or 1D tensor");
  }
  if (how != "linear" && how != "lower" && how != "higher" && how != "midpoint" && how != "nearest") {
    throw Error(
        ErrorCode::kInvalidArgument,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got " +
            std::string(how));
  }
  return self.dtype() == DType::kFloat32 ? run_quantile<float>(context, self, q, dim, keep, how, kSkipsNan)
                                         : run_quantile<double>(context, self, q, dim, keep, how, kSkipsNan);
}
template <bool kSkipsNan>
Tensor quantile_scalar(Context& context, const Tensor& self, double q, std::optional<Size> dim, bool keep,
                       std::string_view how) {
  return quantile<kSkipsNan>(context, self, scalar_tensor(q, self.dtype()), dim, keep, how);
}

}  // namespace

void define_order_statistics(Library& library) {
  library
      .define("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .shape<line_shape<Size>, line_shape<SymInt>>()
      .kernel<median_kernel<false>>();
  library
      .define(
          "aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .shape<line_shape<Size>, line_shape<SymInt>>()
      .kernel<median_kernel<true>>();
  library.define("aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .shape<line_shape<Size>, line_shape<SymInt>>()
      .kernel<mode_kernel>();
  library.define("aten::median(Tensor self) -> Tensor")
      .shape<median_all_shape<Size>, median_all_shape<SymInt>>()
      .kernel<median_all_kernel<false>>();
  library.define("aten::nanmedian(Tensor self) -> Tensor")
      .shape<median_all_shape<Size>, median_all_shape<SymInt>>()
      .kernel<median_all_kernel<true>>();
  library
      .define(
          "aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
          "interpolation=\"linear\") -> Tensor")
      .shape<quantile_shape<Size>, quantile_shape<SymInt>>()
      .function<quantile<false>>();
  library
      .define(
          "aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
          "interpolation=\"linear\") -> Tensor")
      .shape<quantile_shape<Size>, quantile_shape<SymInt>>()
      .function<quantile<true>>();
  library
      .define(
          "aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
          "interpolation=\"linear\") -> Tensor")
      .shape<quantile_scalar_shape<Size>, quantile_scalar_shape<SymInt>>()
      .function<quantile_scalar<false>>();
  library
      .define(
          "aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
          "interpolation=\"linear\") -> Tensor")
      .shape<quantile_scalar_shape<Size>, quantile_scalar_shape<SymInt>>()
      .function<quantile_scalar<true>>();
}

}  // namespace flambeau::ops
