// The upsample family: nearest, linear and cubic, with and without smoothing, by size or by factor.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/resample/resize.h"

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

// ---- along a line, by gathering

using SymNumbers = std::optional<std::span<const SymInt>>;

// The size wanted, and how far apart its places are in the input.
struct LineAxis {
  int64_t size;
  double step;
};
// Nothing where a size is a symbol: then the operator stays.
std::optional<LineAxis> last_axis(const Tensor& input, const SymNumbers& output_size,
                                  const Factors& factors) {
  const SymInt from = size_of(input, -1);
  if (!from.is_literal() || (output_size && !(*output_size)[0].is_literal())) return std::nullopt;
  const auto length = static_cast<double>(from.literal());
  if (!output_size) return LineAxis{static_cast<int64_t>(length * (*factors)[0]), 1.0 / (*factors)[0]};
  const int64_t size = (*output_size)[0].literal();
  return LineAxis{size, length / static_cast<double>(size)};
}
Tensor picked_along(Context& c, const Tensor& input, const Tensor& places) {
  TensorList indices(static_cast<size_t>(rank_of(input)));
  indices.back() = places;
  return call(c, "aten::index.Tensor", input, indices);
}
std::optional<Tensor> nearest_parts(Context& c, const Tensor& input, SymNumbers output_size,
                                    Factors factors) {
  const std::optional<LineAxis> axis = last_axis(input, output_size, factors);
  if (!axis) return std::nullopt;
  const Tensor line = parts::arange(c, 0, axis->size, DType::kFloat32, input.device());
  const Tensor places = parts::mul(c, parts::add(c, line, 0.0), axis->step);
  return picked_along(c, input, parts::to_dtype(c, places, DType::kInt64));
}
std::optional<Tensor> linear_parts(Context& c, const Tensor& input, SymNumbers output_size,
                                   bool align_corners, Factors factors) {
  const std::optional<LineAxis> axis = last_axis(input, output_size, factors);
  if (!axis || input.dtype() != DType::kFloat32) return std::nullopt;
  const int64_t last = size_of(input, -1).literal() - 1;
  const Tensor line = parts::to_dtype(c, parts::arange(c, 0, axis->size, {}, input.device()), input.dtype());
  Tensor places;
  if (align_corners) {
    const auto steps = static_cast<double>(axis->size - 1);
    places = parts::mul(c, line, axis->size > 1 ? static_cast<double>(last) / steps : 0.0);
  } else {
    places = parts::sub(c, parts::mul(c, parts::add(c, line, 0.5), axis->step), 0.5);
  }
  places = call(c, "aten::view", call(c, "aten::clamp", places, 0.0), Dims{axis->size});
  const Tensor before = parts::to_dtype(c, places, DType::kInt64);
  const Tensor after = call(c, "aten::clamp", parts::add(c, before, 1), Value(), last);
  const Tensor left = picked_along(c, input, before);
  const Tensor right = picked_along(c, input, after);
  const Tensor share = call(c, "aten::clamp", parts::sub(c, places, before), 0.0, 1.0);
  return parts::add(c, left, parts::mul(c, parts::sub(c, right, left), share));
}

template <Resampling kKind, size_t kDims>
void define_plain(Library& library, std::string_view sized, std::string_view listed) {
  using F = Forms<kKind, std::make_index_sequence<kDims>>;
  library.define(sized)
      .template shape<F::template plain_shape<Size>, F::template plain_shape<SymInt>>()
      .template kernel<F::plain>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kNearest);
  Definition form = library.define(listed);
  form.template shape<F::template plain_list_shape<Size>, F::template plain_list_shape<SymInt>>()
      .template kernel<F::plain_list>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kNearest);
  if constexpr (kKind == Resampling::kNearest && kDims == 1) form.template composite<nearest_parts>();
}

template <Resampling kKind, size_t kDims>
void define_aligned(Library& library, std::string_view sized, std::string_view listed) {
  using F = Forms<kKind, std::make_index_sequence<kDims>>;
  library.define(sized)
      .template shape<F::template aligned_shape<Size>, F::template aligned_shape<SymInt>>()
      .template kernel<F::aligned>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kLinear);
  Definition form = library.define(listed);
  form.template shape<F::template aligned_list_shape<Size>, F::template aligned_list_shape<SymInt>>()
      .template kernel<F::aligned_list>()
      .is(Trait::kAnyLayout, kDims == 2 && kKind == Resampling::kLinear);
  if constexpr (kKind == Resampling::kLinear && kDims == 1) form.template composite<linear_parts>();
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
