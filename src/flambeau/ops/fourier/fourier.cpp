// The discrete Fourier transform over some dimensions: of complex numbers, of real ones, and back to real
// ones. All other transforms are made of these three.
#include "flambeau/ops/fourier/fourier.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/kernels/fft/fft.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using kernels::FftLines;

// ---- shapes

int64_t dim_number(Size dim) { return dim; }
int64_t dim_number(const SymInt& dim) { return fixed(dim); }

template <typename D>
Dims transformed_dims(std::span<const D> dims, size_t rank) {
  Dims result;
  for (const D& dim : dims) {
    const auto d = static_cast<int64_t>(wrap_dim(dim_number(dim), rank));
    if (rank == 0) fail_view("Dimension specified as 0 but tensor has no dimensions");
    if (std::find(result.begin(), result.end(), d) != result.end()) fail_view("FFT dims must be unique");
    result.push_back(d);
  }
  return result;
}

void require_parts(std::string_view what, DType dtype, bool wants_complex) {
  if (wants_complex ? !is_complex(dtype) : !is_floating(dtype)) {
    fail_view(fmt::format("Only supports {} dtypes, but found: {}",
                          wants_complex ? "complex" : "floating-point", dtype_name(dtype)));
  }
  const DType part = to_real(dtype);
  if (part != DType::kFloat32 && part != DType::kFloat64) fail_dtype(what, dtype);
}

void require_norm(int64_t norm) {
  if (norm < 0 || norm > 2) fail_view(fmt::format("Unsupported normalization mode {}", norm));
}

template <typename N>
void require_points(const N& size) {
  if (size < N(1)) fail_view("Invalid number of data points (" + number_text(size) + ") specified");
}

// PyTorch lays the transformed dimensions innermost; both they and the others in the order of the argument's
// strides, save that the halved one is the innermost of all.
template <typename N>
Info<N> transformed_info(const Info<N>& self, DType dtype, ShortList<N> sizes, const Dims& dims,
                         bool has_half) {
  ShortList<int64_t> order;
  const auto append = [&](auto&& belongs) {
    const size_t begin = order.size();
    for (size_t d = 0; d < self.dim(); ++d) {
      if (!belongs(static_cast<int64_t>(d))) continue;
      order.push_back(static_cast<int64_t>(d));
      for (size_t i = order.size() - 1; i > begin; --i) {
        const auto a = static_cast<size_t>(order[i - 1]), b = static_cast<size_t>(order[i]);
        if (!(self.strides[a] < self.strides[b])) break;
        std::swap(order[i - 1], order[i]);
      }
    }
  };
  const auto is_transformed = [&](int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); };
  append([&](int64_t d) { return !is_transformed(d); });
  append([&](int64_t d) { return is_transformed(d) && !(has_half && d == dims.back()); });
  if (has_half) order.push_back(dims.back());
  ShortList<N> strides;
  strides.resize(sizes.size());
  N stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = stride;
    stride *= max(sizes[d], N(1));
  }
  return {.dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides), .device = self.device};
}

template <typename N>
Info<N> complex_shape(const Info<N>& self, std::span<const N> dim, Size norm, bool) {
  require_parts("_fft_c2c", self.dtype, true);
  require_norm(norm);
  const Dims dims = transformed_dims(dim, self.dim());
  if (dims.empty()) {
    return {.dtype = self.dtype,
            .sizes = self.sizes,
            .strides = like_strides(self, MemoryFormat::kPreserve),
            .device = self.device};
  }
  for (const int64_t d : dims) require_points(self.sizes[static_cast<size_t>(d)]);
  return transformed_info(self, self.dtype, self.sizes, dims, false);
}

Dims required_dims(std::span<const Size> dim, size_t rank) {
  if (dim.empty()) fail_view("at least one dimension must be transformed");
  return transformed_dims(dim, rank);
}

template <typename N>
Info<N> real_shape(const Info<N>& self, std::span<const Size> dim, Size norm, bool onesided) {
  require_parts("_fft_r2c", self.dtype, false);
  require_norm(norm);
  const Dims dims = required_dims(dim, self.dim());
  for (const int64_t d : dims) require_points(self.sizes[static_cast<size_t>(d)]);
  ShortList<N> sizes = self.sizes;
  N& last = sizes[static_cast<size_t>(dims.back())];
  if (onesided) last = floor_div(last, N(2)) + N(1);
  return transformed_info(self, to_complex(self.dtype), std::move(sizes), dims, true);
}

template <typename N>
Info<N> back_shape(const Info<N>& self, std::span<const Size> dim, Size norm, N last_dim_size) {
  require_parts("_fft_c2r", self.dtype, true);
  require_norm(norm);
  const Dims dims = required_dims(dim, self.dim());
  require_points(last_dim_size);
  ShortList<N> sizes = self.sizes;
  N& last = sizes[static_cast<size_t>(dims.back())];
  if constexpr (std::is_same_v<N, Size>) {
    if (last != last_dim_size && last != last_dim_size / 2 + 1) {
      fail_view(fmt::format("expected {} or {} numbers along dimension {} for a real signal of {}, got {}",
                            last_dim_size / 2 + 1, last_dim_size, dims.back(), last_dim_size, last));
    }
  }
  last = last_dim_size;
  for (const int64_t d : dims) require_points(sizes[static_cast<size_t>(d)]);
  return transformed_info(self, to_real(self.dtype), std::move(sizes), dims, true);
}

// ---- kernels

double scale_of(Size norm, const Dims& sizes, const Dims& dims) {
  double count = 1;
  for (const int64_t d : dims) count *= static_cast<double>(sizes[static_cast<size_t>(d)]);
  return norm == fourier::kNone ? 1 : (norm == fourier::kByRoot ? 1 / std::sqrt(count) : 1 / count);
}

// Along one dimension. All but that one have the sizes of the smaller tensor.
void run_lines(Context& context, FftLines::Kind kind, bool is_forward, double scale, size_t length,
               const Tensor& from, const Tensor& to, int64_t dim) {
  const auto d = static_cast<size_t>(dim);
  FftLines lines = {.kind = kind,
                    .is_forward = is_forward,
                    .part = to_real(from.dtype()),
                    .length = length,
                    .scale = scale,
                    .from = from.data(),
                    .from_step = from.strides()[d],
                    .to = to.mutable_data(),
                    .to_step = to.strides()[d]};
  for (size_t other = 0; other < from.dim(); ++other) {
    if (other == d) continue;
    lines.axes.push_back(
        {static_cast<size_t>(from.sizes()[other]), from.strides()[other], to.strides()[other]});
  }
  kernels::run_fft(context.pool(), lines);
}

// Dimension after dimension, the last of which scales: into `to` first, then in place.
void run_complex(Context& context, const Tensor& from, const Tensor& to, const Dims& dims, bool is_forward,
                 double scale) {
  const Tensor* source = &from;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto length = static_cast<size_t>(from.sizes()[static_cast<size_t>(dims[i])]);
    run_lines(context, FftLines::Kind::kComplex, is_forward, i == 0 ? scale : 1, length, *source, to,
              dims[i]);
    source = &to;
  }
}

void complex_kernel(Context& context, const Tensor& self, std::span<const Size> dim, Size norm, bool forward,
                    Tensor& out) {
  if (out.element_count() == 0) return;
  const Dims dims = transformed_dims(dim, self.dim());
  if (dims.empty()) return copy_into(context, self, out);
  run_complex(context, self, out, dims, forward, scale_of(norm, self.sizes(), dims));
}

Dims without_last(const Dims& dims) { return Dims(dims.span().first(dims.size() - 1)); }

// The numbers behind the middle of the last dimension are conjugates of those at the opposite place.
template <typename T>
void mirror(Context& context, const Tensor& out, const Dims& dims) {
  const auto last = static_cast<size_t>(dims.back());
  const int64_t length = out.sizes()[last];
  const int64_t step = out.strides()[last];
  auto* const data = out.mutable_data<std::complex<T>>();
  const int64_t lines = out.element_count() / length;
  const auto piece = [&](size_t begin, size_t end) {
    WorkPoller poll;
    for (size_t line = begin; line < end; ++line) {
      poll(static_cast<size_t>(length));
      auto rest = static_cast<int64_t>(line);
      int64_t to = 0, from = 0;
      for (size_t d = out.dim(); d-- > 0;) {
        if (d == last) continue;
        const int64_t size = out.sizes()[d];
        const int64_t at = rest % size;
        rest /= size;
        const bool is_transformed =
            std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
        to += at * out.strides()[d];
        from += (is_transformed && at > 0 ? size - at : at) * out.strides()[d];
      }
      for (int64_t k = length / 2 + 1; k < length; ++k) {
        data[to + k * step] = std::conj(data[from + (length - k) * step]);
      }
    }
  };
  const int64_t grain = std::max<int64_t>(kGrain / length, 1);
  if (lines <= grain) return piece(0, static_cast<size_t>(lines));
  context.pool().for_each_range(static_cast<size_t>(lines), static_cast<size_t>(grain), piece);
}

void real_kernel(Context& context, const Tensor& self, std::span<const Size> dim, Size norm, bool onesided,
                 Tensor& out) {
  if (out.element_count() == 0) return;
  const Dims dims = transformed_dims(dim, self.dim());
  const Dims others = without_last(dims);
  const double scale = scale_of(norm, self.sizes(), dims);
  const int64_t length = self.sizes()[static_cast<size_t>(dims.back())];
  run_lines(context, FftLines::Kind::kRealToComplex, true, others.empty() ? scale : 1,
            static_cast<size_t>(length), self, out, dims.back());
  const Tensor half = onesided ? out : viewed(out, part_info(info_of(out), dims.back(), 0, length / 2 + 1));
  if (!others.empty()) run_complex(context, half, half, others, true, scale);
  if (onesided) return;
  if (out.dtype() == DType::kComplex64) return mirror<float>(context, out, dims);
  mirror<double>(context, out, dims);
}

void back_kernel(Context& context, const Tensor& self, std::span<const Size> dim, Size norm,
                 Size last_dim_size, Tensor& out) {
  if (out.element_count() == 0) return;
  const Dims dims = transformed_dims(dim, self.dim());
  const Dims others = without_last(dims);
  Tensor from = self;
  if (!others.empty()) {
    from = context.allocate(transformed_info(info_of(self), self.dtype(),
                                             ShortList<Size>(checked(self.sizes().span())), others, false));
    run_complex(context, self, from, others, false, 1);
  }
  run_lines(context, FftLines::Kind::kComplexToReal, false, scale_of(norm, out.sizes(), dims),
            static_cast<size_t>(last_dim_size), from, out, dims.back());
}

// Five operations for each doubling of the length, half of them for real numbers.
uint64_t transform_work(const Tensor& out, const Tensor& self, std::span<const Size> dim) {
  const Tensor& longer = self.element_count() > out.element_count() ? self : out;
  double doublings = 0;
  for (const Size d : dim) {
    const size_t at = wrap_dim(d, longer.dim());
    if (longer.dim() > 0)
      doublings += std::log2(std::max<double>(static_cast<double>(longer.sizes()[at]), 1));
  }
  const double half = is_complex(self.dtype()) && is_complex(out.dtype()) ? 1 : 0.5;
  return static_cast<uint64_t>(5 * half * doublings * static_cast<double>(longer.element_count()));
}

}  // namespace

void define_fourier(Library& library) {
  library.define("aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor")
      .shape<complex_shape<Size>, complex_shape<SymInt>>()
      .kernel<complex_kernel>()
      .work<transform_work>();
  library.define("aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor")
      .shape<real_shape<Size>, real_shape<SymInt>>()
      .kernel<real_kernel>()
      .work<transform_work>();
  library.define("aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor")
      .shape<back_shape<Size>, back_shape<SymInt>>()
      .kernel<back_kernel>()
      .work<transform_work>();
}

}  // namespace flambeau::ops
