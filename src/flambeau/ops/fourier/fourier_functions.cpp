// PyTorch's torch.fft: transforms that pad, cut and convert what they are given, and say how they scale.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/fourier/fourier.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

using namespace fourier;  // NOLINT: the three transforms

using OptionalText = std::optional<std::string_view>;
using OptionalSym = std::optional<SymInt>;
using OptionalSyms = std::optional<std::span<const SymInt>>;
using OptionalDims = std::optional<std::span<const Size>>;

// Integers as float32; what has no transform stays for it to refuse.
Tensor promoted(Context& c, const Tensor& self, bool wants_complex) {
  const DType dtype = self.dtype();
  if (is_complex(dtype)) return self;
  const DType real = int_to_float(dtype);
  if (real != DType::kFloat32 && real != DType::kFloat64) fail_dtype("fft", dtype);
  return parts::to_dtype(c, self, wants_complex ? to_complex(real) : real);
}

int64_t norm_of(OptionalText norm, bool is_forward) {
  if (!norm || *norm == "backward") return is_forward ? kNone : kByCount;
  if (*norm == "forward") return is_forward ? kByCount : kNone;
  if (*norm == "ortho") return kByRoot;
  fail_view(fmt::format("Invalid normalization mode: \"{}\"", *norm));
}

void require_points(const SymInt& size) {
  if (size < SymInt(1)) fail_view("Invalid number of data points (" + number_text(size) + ") specified");
}

// A dimension; a tensor without any has none to transform.
int64_t line_dim(const Tensor& self, int64_t dim) {
  if (rank_of(self) == 0) {
    fail_view(fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  }
  return wrapped_dim(dim, rank_of(self));
}

// Cut to these sizes, or filled up with zeros.
Tensor resized(Context& c, Tensor self, const Dims& dims, std::span<const SymInt> sizes) {
  const auto rank = static_cast<size_t>(rank_of(self));
  SymIntList pad(2 * rank, SymInt(0));
  bool is_padded = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const SymInt size = size_of(self, dims[i]);
    if (size < sizes[i]) {
      is_padded = true;
      pad[2 * (rank - 1 - static_cast<size_t>(dims[i])) + 1] = sizes[i] - size;
    }
    if (size > sizes[i]) self = call(c, "aten::slice.Tensor", self, dims[i], 0, sizes[i]);
  }
  return is_padded ? call(c, "aten::constant_pad_nd", self, pad) : self;
}

// ---- along one dimension

// The line's dimension, and its size where one is given.
Tensor resized_line(Context& c, const Tensor& self, int64_t dim, const OptionalSym& n) {
  const SymInt size = n ? *n : size_of(self, dim);
  require_points(size);
  return n ? resized(c, self, {dim}, SymIntList{size}) : self;
}

template <bool kForward>
Tensor fft_line(Context& c, const Tensor& given, OptionalSym n, Size given_dim, OptionalText norm) {
  const int64_t dim = line_dim(given, given_dim);
  const int64_t mode = norm_of(norm, kForward);
  const Tensor self = resized_line(c, promoted(c, given, false), dim, n);
  if (is_complex(self.dtype())) return complex_to_complex(c, self, {dim}, mode, kForward);
  const Tensor result = real_to_complex(c, self, {dim}, mode, false);
  return kForward ? result : call(c, "aten::_conj", result);
}

// The transform of a real line, or the conjugate of it.
template <bool kForward>
Tensor fft_real_line(Context& c, const Tensor& given, OptionalSym n, Size given_dim, OptionalText norm) {
  if (is_complex(given.dtype())) {
    fail_view(fmt::format("{} expects a real input tensor, but got {}", kForward ? "rfft" : "ihfft",
                          dtype_word(given.dtype())));
  }
  const int64_t dim = line_dim(given, given_dim);
  const int64_t mode = norm_of(norm, kForward);
  const Tensor self = resized_line(c, promoted(c, given, false), dim, n);
  const Tensor result = real_to_complex(c, self, {dim}, mode, true);
  return kForward ? result : call(c, "aten::_conj", result);
}

// Conjugates, as they lie in memory.
Tensor conjugates(Context& c, const Tensor& self) {
  return call(c, "aten::clone", call(c, "aten::_conj", self));
}

// Half of a symmetric line to real numbers: backward, or forward of the conjugates.
template <bool kForward>
Tensor fft_half_line(Context& c, const Tensor& given, OptionalSym n, Size given_dim, OptionalText norm) {
  const int64_t dim = line_dim(given, given_dim);
  const int64_t mode = norm_of(norm, kForward);
  Tensor self = promoted(c, given, true);
  const SymInt size = n ? *n : SymInt(2) * (size_of(self, dim) - SymInt(1));
  require_points(size);
  if (n) self = resized(c, self, {dim}, SymIntList{floor_div(size, SymInt(2)) + SymInt(1)});
  if (kForward) self = conjugates(c, self);
  return complex_to_real(c, self, {dim}, mode, size);
}

// ---- over several dimensions

struct Region {
  Dims dims;
  SymIntList sizes;
};

// The dimensions and their sizes; those of `s` belong to the last ones where no dimensions are given.
Region region_of(const Tensor& self, const OptionalSyms& s, const OptionalDims& dim) {
  const int64_t rank = rank_of(self);
  Region region;
  if (dim) {
    for (const Size d : *dim) {
      const int64_t wrapped = line_dim(self, d);
      if (std::find(region.dims.begin(), region.dims.end(), wrapped) != region.dims.end()) {
        fail_view("FFT dims must be unique");
      }
      region.dims.push_back(wrapped);
    }
    if (s && s->size() != region.dims.size()) {
      fail_view("When given, dim and shape arguments must have the same length");
    }
  } else {
    const int64_t count = s ? static_cast<int64_t>(s->size()) : rank;
    if (count > rank) {
      fail_view(
          fmt::format("Got shape with {} values but input tensor only has {} dimensions.", count, rank));
    }
    for (int64_t d = rank - count; d < rank; ++d) region.dims.push_back(d);
  }
  for (size_t i = 0; i < region.dims.size(); ++i) {
    const bool is_given = s && !((*s)[i] == SymInt(-1));
    region.sizes.push_back(is_given ? (*s)[i] : size_of(self, region.dims[i]));
    require_points(region.sizes.back());
  }
  return region;
}

void require_dims(std::string_view what, const Region& region) {
  if (region.dims.empty()) fail_view(fmt::format("{} must transform at least one axis", what));
}

Dims but_last(const Dims& dims) { return Dims(dims.span().first(dims.size() - 1)); }

template <bool kForward>
Tensor fft_region(Context& c, const Tensor& given, OptionalSyms s, OptionalDims dim, OptionalText norm) {
  const Region region = region_of(given, s, dim);
  const int64_t mode = norm_of(norm, kForward);
  const Tensor self = resized(c, promoted(c, given, true), region.dims, region.sizes);
  return complex_to_complex(c, self, region.dims, mode, kForward);
}

Tensor rfft_region(Context& c, const Tensor& given, OptionalSyms s, OptionalDims dim, OptionalText norm) {
  if (is_complex(given.dtype())) {
    fail_view(fmt::format("rfftn expects a real-valued input tensor, but got {}", dtype_word(given.dtype())));
  }
  const Region region = region_of(given, s, dim);
  require_dims("rfftn", region);
  const int64_t mode = norm_of(norm, true);
  const Tensor self = resized(c, promoted(c, given, false), region.dims, region.sizes);
  return real_to_complex(c, self, region.dims, mode, true);
}

Tensor ihfft_region(Context& c, const Tensor& given, OptionalSyms s, OptionalDims dim, OptionalText norm) {
  const Region region = region_of(given, s, dim);
  require_dims("ihfftn", region);
  const int64_t mode = norm_of(norm, false);
  const Tensor self = resized(c, promoted(c, given, false), region.dims, region.sizes);
  const Tensor half = real_to_complex(c, self, {region.dims.back()}, mode, true);
  if (region.dims.size() == 1) return call(c, "aten::_conj", half);
  const Tensor turned = call(c, "aten::_conj_physical", half);
  return complex_to_complex(c, turned, but_last(region.dims), mode, false);
}

// The last dimension holds half of what it stands for: the size of the result, and the region of the
// argument.
SymInt halve(const Tensor& self, Region& region, const OptionalSyms& s) {
  const bool is_given = s && !(s->back() == SymInt(-1));
  const SymInt size = is_given ? s->back() : SymInt(2) * (size_of(self, region.dims.back()) - SymInt(1));
  require_points(size);
  region.sizes.back() = floor_div(size, SymInt(2)) + SymInt(1);
  return size;
}

Tensor irfft_region(Context& c, const Tensor& given, OptionalSyms s, OptionalDims dim, OptionalText norm) {
  Region region = region_of(given, s, dim);
  require_dims("irfftn", region);
  const SymInt size = halve(given, region, s);
  const int64_t mode = norm_of(norm, false);
  const Tensor self = resized(c, promoted(c, given, true), region.dims, region.sizes);
  return complex_to_real(c, self, region.dims, mode, size);
}

Tensor hfft_region(Context& c, const Tensor& given, OptionalSyms s, OptionalDims dim, OptionalText norm) {
  Region region = region_of(given, s, dim);
  require_dims("hfftn", region);
  const SymInt size = halve(given, region, s);
  const int64_t mode = norm_of(norm, true);
  Tensor self = resized(c, promoted(c, given, true), region.dims, region.sizes);
  if (region.dims.size() > 1) self = complex_to_complex(c, self, but_last(region.dims), mode, true);
  return complex_to_real(c, conjugates(c, self), {region.dims.back()}, mode, size);
}

// The forms over two dimensions have a list of them, the others may have one.
template <auto kFunction>
Tensor over_two(Context& c, const Tensor& self, OptionalSyms s, std::span<const Size> dim,
                OptionalText norm) {
  return kFunction(c, self, s, dim, norm);
}

// ---- the middle of the frequencies to the middle of the tensor, and back
template <bool kForward>
Tensor shifted(Context& c, const Tensor& self, OptionalDims dim) {
  Dims dims = dim ? Dims() : all_dims(rank_of(self));
  SymIntList shifts;
  if (dim) {
    for (const Size d : *dim) dims.push_back(line_dim(self, d));
  }
  for (const int64_t d : dims) {
    const SymInt size = size_of(self, d);
    shifts.push_back(floor_div(kForward ? size : size + SymInt(1), SymInt(2)));
  }
  return call(c, "aten::roll", self, shifts, dims);
}

}  // namespace

// The text of a schema lasts as long as the program.
#define LINE(name) "aten::fft_" name "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"
#define REGION(name) \
  "aten::fft_" name "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"
#define PLANE(name) \
  "aten::fft_" name "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"

void define_fourier_functions(Library& library) {
  library.define(LINE("fft")).composite<fft_line<true>>();
  library.define(LINE("ifft")).composite<fft_line<false>>();
  library.define(LINE("rfft")).composite<fft_real_line<true>>();
  library.define(LINE("ihfft")).composite<fft_real_line<false>>();
  library.define(LINE("hfft")).composite<fft_half_line<true>>();
  library.define(LINE("irfft")).composite<fft_half_line<false>>();
  library.define(REGION("fftn")).composite<fft_region<true>>();
  library.define(REGION("ifftn")).composite<fft_region<false>>();
  library.define(REGION("rfftn")).composite<rfft_region>();
  library.define(REGION("irfftn")).composite<irfft_region>();
  library.define(REGION("hfftn")).composite<hfft_region>();
  library.define(REGION("ihfftn")).composite<ihfft_region>();
  library.define(PLANE("fft2")).composite<over_two<&fft_region<true>>>();
  library.define(PLANE("ifft2")).composite<over_two<&fft_region<false>>>();
  library.define(PLANE("rfft2")).composite<over_two<&rfft_region>>();
  library.define(PLANE("irfft2")).composite<over_two<&irfft_region>>();
  library.define(PLANE("hfft2")).composite<over_two<&hfft_region>>();
  library.define(PLANE("ihfft2")).composite<over_two<&ihfft_region>>();
  library.define("aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor").composite<shifted<true>>();
  library.define("aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor").composite<shifted<false>>();
}

#undef PLANE
#undef REGION
#undef LINE

}  // namespace flambeau::ops
