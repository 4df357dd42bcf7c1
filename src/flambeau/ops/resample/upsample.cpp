// The upsample family: nearest, linear and cubic, with and without smoothing, by size or by factor.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/library.h"
#include "flambeau/ops/resample/resize.h"
#include "flambeau/ops/strides.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;
using Factors = std::optional<std::span<const double>>;

template <typename N>
Info<N> resized_info(const Info<N>& input, std::span<const N> output_size, size_t dims) {
  if (output_size.size() != dims) {
    fail_argument(
        fmt::format("It is expected output_size equals to {}, but got size {}", dims, output_size.size()));
  }
  if (input.dim() != dims + 2) {
    fail_argument(
        fmt::format("It is expected input_size equals to {}, but got size {}", dims + 2, input.dim()));
  }
  Info<N> out{.dtype = input.dtype, .sizes = {input.sizes[0], input.sizes[1]}, .device = input.device};
  for (size_t d = 0; d < dims; ++d) {
    if (!(input.sizes[d + 2] > N(0)) || !(output_size[d] > N(0))) {
      fail_argument("Input and output sizes should be greater than 0, but got input " +
                    sizes_text(input.sizes.span()) + " and output " + sizes_text(output_size));
    }
    out.sizes.push_back(output_size[d]);
  }
  out.strides = suggested_format(input) == MemoryFormat::kContiguous ? row_major(out.sizes)
                                                                     : channels_last_strides(out.sizes);
  return out;
}

Size scaled_size(Size size, double factor) { return truncated_size(static_cast<double>(size) * factor); }
SymInt scaled_size(const SymInt& size, double factor) {
  if (size.is_literal()) return scaled_size(Size(size.literal()), factor);
  if (factor == std::floor(factor)) return size * SymInt(truncated_size(factor));
  throw Error(ErrorCode::kUnsupported,
              "a size that is a symbol cannot be multiplied by a factor that is no integer",
              "give upsampling the size of its result");
}

// The size as given, or from factors.
template <typename N>
ShortList<N> wanted_size(const Info<N>& input, const std::optional<std::span<const N>>& output_size,
                         const Factors& factors) {
  require(output_size.has_value() != factors.has_value(),
          "Must specify exactly one of output_size and scale_factors");
  if (output_size) return ShortList<N>(*output_size);
  require(factors->size() + 2 == input.dim(), "one scale factor is needed for each dimension of space");
  ShortList<N> sizes;
  for (size_t d = 0; d + 2 < input.dim(); ++d)
    sizes.push_back(scaled_size(input.sizes[d + 2], (*factors)[d]));
  return sizes;
}

template <size_t>
using Scale = std::optional<double>;

template <Resampling kKind, typename Sequence>
struct Forms;
template <Resampling kKind, size_t... I>
struct Forms<kKind, std::index_sequence<I...>> {
  static constexpr size_t kDims = sizeof...(I);

  static std::array<std::optional<double>, kDims> given(const Factors& factors) {
    return {factors ? std::optional<double>((*factors)[I]) : std::nullopt...};
  }

  template <typename N>
  static Info<N> plain_shape(const Info<N>& self, std::span<const N> output_size, Scale<I>...) {
    return resized_info(self, output_size, kDims);
  }
  static void plain(Context& context, const Tensor& self, Numbers, Scale<I>... scales, Tensor& out) {
    resize(context, kKind, self, false, std::array<std::optional<double>, kDims>{scales...}, out);
  }
  template <typename N>
  static Info<N> plain_list_shape(const Info<N>& input, std::optional<std::span<const N>> output_size,
                                  Factors factors) {
    return resized_info<N>(input, wanted_size<N>(input, output_size, factors), kDims);
  }
  static void plain_list(Context& context, const Tensor& input, std::optional<Numbers>, Factors factors,
                         Tensor& out) {
    resize(context, kKind, input, false, given(factors), out);
  }

  template <typename N>
  static Info<N> aligned_shape(const Info<N>& self, std::span<const N> output_size, bool, Scale<I>...) {
    return resized_info(self, output_size, kDims);
  }
  static void aligned(Context& context, const Tensor& self, Numbers, bool align_corners, Scale<I>... scales,
                      Tensor& out) {
    resize(context, kKind, self, align_corners, std::array<std::optional<double>, kDims>{scales...}, out);
  }
  template <typename N>
  static Info<N> aligned_list_shape(const Info<N>& input, std::optional<std::span<const N>> output_size, bool,
                                    Factors factors) {
    return resized_info<N>(input, wanted_size<N>(input, output_size, factors), kDims);
  }
  static void aligned_list(Context& context, const Tensor& input, std::optional<Numbers>, bool align_corners,
                           Factors factors, Tensor& out) {
    resize(context, kKind, input, align_corners, given(factors), out);
  }
};

template <Resampling kKind, size_t kDims>
void define_plain(Library& library, std::string_view sized, std::string_view listed) {
  using F = Forms<kKind, std::make_index_sequence<kDims>>;
  library.define(sized)
      .template shape<F::template plain_shape<Size>, F::template plain_shape<SymInt>>()
      .template kernel<F::plain>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kNearest);
  library.define(listed)
      .template shape<F::template plain_list_shape<Size>, F::template plain_list_shape<SymInt>>()
      .template kernel<F::plain_list>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kNearest);
}

template <Resampling kKind, size_t kDims>
void define_aligned(Library& library, std::string_view sized, std::string_view listed) {
  using F = Forms<kKind, std::make_index_sequence<kDims>>;
  library.define(sized)
      .template shape<F::template aligned_shape<Size>, F::template aligned_shape<SymInt>>()
      .template kernel<F::aligned>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kLinear);
  library.define(listed)
      .template shape<F::template aligned_list_shape<Size>, F::template aligned_list_shape<SymInt>>()
      .template kernel<F::aligned_list>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kLinear);
}

}  // namespace

void define_upsample(Library& library) {
#define FLAMBEAU_PLAIN(kind, dims, name, scales)                                                   \
  define_plain<Resampling::kind, dims>(                                                            \
      library, "aten::" name "(Tensor self, SymInt[" #dims "] output_size, " scales ") -> Tensor", \
      "aten::" name ".vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
  FLAMBEAU_PLAIN(kNearest, 1, "upsample_nearest1d", "float? scales=None");
  FLAMBEAU_PLAIN(kNearest, 2, "upsample_nearest2d", "float? scales_h=None, float? scales_w=None");
  FLAMBEAU_PLAIN(kNearest, 3, "upsample_nearest3d",
                 "float? scales_d=None, float? scales_h=None, float? scales_w=None");
  FLAMBEAU_PLAIN(kNearestExact, 1, "_upsample_nearest_exact1d", "float? scales=None");
  FLAMBEAU_PLAIN(kNearestExact, 2, "_upsample_nearest_exact2d", "float? scales_h=None, float? scales_w=None");
  FLAMBEAU_PLAIN(kNearestExact, 3, "_upsample_nearest_exact3d",
                 "float? scales_d=None, float? scales_h=None, float? scales_w=None");
#undef FLAMBEAU_PLAIN
#define FLAMBEAU_ALIGNED(kind, dims, name, scales)                                             \
  define_aligned<Resampling::kind, dims>(                                                      \
      library,                                                                                 \
      "aten::" name "(Tensor self, SymInt[" #dims "] output_size, bool align_corners, " scales \
      ") -> Tensor",                                                                           \
      "aten::" name                                                                            \
      ".vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
  FLAMBEAU_ALIGNED(kLinear, 1, "upsample_linear1d", "float? scales=None");
  FLAMBEAU_ALIGNED(kLinear, 2, "upsample_bilinear2d", "float? scales_h=None, float? scales_w=None");
  FLAMBEAU_ALIGNED(kLinear, 3, "upsample_trilinear3d",
                   "float? scales_d=None, float? scales_h=None, float? scales_w=None");
  FLAMBEAU_ALIGNED(kCubic, 2, "upsample_bicubic2d", "float? scales_h=None, float? scales_w=None");
  FLAMBEAU_ALIGNED(kLinearSmooth, 2, "_upsample_bilinear2d_aa", "float? scales_h=None, float? scales_w=None");
  FLAMBEAU_ALIGNED(kCubicSmooth, 2, "_upsample_bicubic2d_aa", "float? scales_h=None, float? scales_w=None");
  FLAMBEAU_ALIGNED(kLanczosSmooth, 2, "_upsample_lanczos2d_aa", "float? scales_h=None, float? scales_w=None");
#undef FLAMBEAU_ALIGNED
}

}  // namespace flambeau::ops
