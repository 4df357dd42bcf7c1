// Gradients of resizing and of padding by a tensor's own elements: each dimension by itself.
#include <array>
#include <numeric>

#include "flambeau/ops/backward/axis_sums.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/resample/taps.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;

// ---- resizing

template <typename N>
Info<N> resize_gradient_info(const Info<N>& gradient, std::span<const N> output_size,
                             std::span<const N> input_size, size_t dims, bool keeps_order) {
  if (output_size.size() != dims) {
    fail_argument("It is expected output_size equals to " + std::to_string(dims) + ", but got size " +
                  std::to_string(output_size.size()));
  }
  if (input_size.size() != dims + 2) {
    fail_argument("It is expected input_size equals to " + std::to_string(dims + 2) + ", but got size " +
                  std::to_string(input_size.size()));
  }
  ShortList<N> expected{input_size[0], input_size[1]};
  for (size_t d = 0; d < dims; ++d) {
    require(input_size[d + 2] > N(0) && output_size[d] > N(0),
            "Input and output sizes should be greater than 0");
    expected.push_back(output_size[d]);
  }
  require_same_sizes("upsample_backward", gradient.sizes, expected);
  Info<N> info = contiguous<N>(gradient.dtype, ShortList<N>(input_size), gradient.device);
  if (keeps_order && suggested_format(gradient) != MemoryFormat::kContiguous)
    info.strides = channels_last_strides(info.sizes);
  return info;
}

void resize_back(Context& context, Resampling kind, const Tensor& gradient, bool align_corners,
                 std::span<const std::optional<double>> scales, Tensor& out) {
  const DType stored = gradient.dtype();
  const bool is_nearest = kind == Resampling::kNearest || kind == Resampling::kNearestExact;
  if (stored == DType::kUInt8 && !is_nearest) fail_dtype("upsample_backward", stored);
  with_floats("upsample_backward", stored == DType::kUInt8 ? DType::kFloat64 : stored,
              [&]<typename T>(T, DType wide) {
                Tensor current = packed_as(context, gradient, wide);
                for (size_t d = 0; d < scales.size(); ++d) {
                  const Taps taps = make_taps(kind, stored, out.sizes()[d + 2], current.sizes()[d + 2],
                                              align_corners, scales[d]);
                  current = add_back<T>(context, current, d + 2,
                                        {taps.in, taps.out, taps.count, taps.index.data(),
                                         taps.weight.empty() ? nullptr : taps.weight.data()});
                }
                copy_into(context, current, out);
              });
}

template <size_t>
using GivenScale = std::optional<double>;

template <Resampling kKind, typename Sequence>
struct ResizeGradient;
template <Resampling kKind, size_t... I>
struct ResizeGradient<kKind, std::index_sequence<I...>> {
  static constexpr size_t kDims = sizeof...(I);
  static constexpr bool kIsCubic =
      kKind == Resampling::kCubic || kKind == Resampling::kCubicSmooth || kKind == Resampling::kLanczosSmooth;
  static constexpr bool kIsNearest = kKind == Resampling::kNearest || kKind == Resampling::kNearestExact;
  static constexpr bool kKeepsOrder = !kIsCubic && !(kIsNearest && kDims == 3);
  template <typename N>
  static Info<N> plain_shape(const Info<N>& gradient, std::span<const N> output_size,
                             std::span<const N> input_size, GivenScale<I>...) {
    return resize_gradient_info(gradient, output_size, input_size, kDims, kKeepsOrder);
  }
  static void plain(Context& context, const Tensor& gradient, Numbers, Numbers, GivenScale<I>... scales,
                    Tensor& out) {
    resize_back(context, kKind, gradient, false, std::array<std::optional<double>, kDims>{scales...}, out);
  }
  template <typename N>
  static Info<N> aligned_shape(const Info<N>& gradient, std::span<const N> output_size,
                               std::span<const N> input_size, bool, GivenScale<I>...) {
    return resize_gradient_info(gradient, output_size, input_size, kDims, kKeepsOrder);
  }
  static void aligned(Context& context, const Tensor& gradient, Numbers, Numbers, bool align_corners,
                      GivenScale<I>... scales, Tensor& out) {
    resize_back(context, kKind, gradient, align_corners, std::array<std::optional<double>, kDims>{scales...},
                out);
  }
};

template <Resampling kKind, size_t kDims>
void define_plain_gradient(Library& library, std::string_view schema) {
  using F = ResizeGradient<kKind, std::make_index_sequence<kDims>>;
  library.define(schema)
      .template shape<F::template plain_shape<Size>, F::template plain_shape<SymInt>>()
      .template kernel<F::plain>();
}
template <Resampling kKind, size_t kDims>
void define_aligned_gradient(Library& library, std::string_view schema) {
  using F = ResizeGradient<kKind, std::make_index_sequence<kDims>>;
  library.define(schema)
      .template shape<F::template aligned_shape<Size>, F::template aligned_shape<SymInt>>()
      .template kernel<F::aligned>();
}

// ---- padding

template <typename N, bool kReflects, size_t kDims>
Info<N> pad_gradient_shape(const Info<N>& gradient, const Info<N>& self, std::span<const N> padding) {
  require(padding.size() == 2 * kDims, "pad_backward: two numbers are needed for each padded dimension");
  require(self.dim() == kDims + 1 || self.dim() == kDims + 2,
          "pad_backward: expected an image, or a batch of images");
  ShortList<N> expected = self.sizes;
  for (size_t d = 0; d < kDims; ++d) {
    const size_t dim = self.dim() - 1 - d;
    const N& before = padding[2 * d];
    const N& after = padding[2 * d + 1];
    require(self.sizes[dim] > N(0), "pad_backward: expected an image with elements");
    require(!kReflects || (before < self.sizes[dim] && after < self.sizes[dim]),
            "Padding size should be less than the corresponding input dimension");
    expected[dim] = self.sizes[dim] + before + after;
  }
  require_same_sizes("pad_backward", gradient.sizes, expected);
  Info<N> info = contiguous<N>(self.dtype, self.sizes, self.device);
  if (suggested_format(self) != MemoryFormat::kContiguous) info.strides = channels_last_strides(info.sizes);
  return info;
}
template <bool kReflects, size_t kDims>
void pad_gradient_kernel(Context& context, const Tensor& gradient, const Tensor&, Numbers padding,
                         Tensor& out) {
  // Which element each place of a line shows follows from padding the line's own places.
  Context inner = context.without_interceptor();
  const bool is_real = is_floating(out.dtype());
  if (!is_real && !is_complex(out.dtype())) fail_dtype("pad_backward", out.dtype());
  const auto run = [&]<typename T>(T, DType wide) {
    Tensor current = packed_as(context, gradient, wide);
    for (size_t d = 0; d < kDims; ++d) {
      const size_t dim = out.dim() - 1 - d;
      const int64_t size = out.sizes()[dim];
      const Tensor line = context.allocate(DType::kInt64, Dims{1, 1, size});
      std::iota(line.mutable_data<int64_t>(), line.mutable_data<int64_t>() + size, 0);
      const Tensor places = call(inner, kReflects ? "aten::reflection_pad1d" : "aten::replication_pad1d",
                                 line, Dims{padding[2 * d], padding[2 * d + 1]});
      current = add_back<T>(context, current, dim,
                            {size, current.sizes()[dim], 1, places.data<int64_t>(), nullptr});
    }
    copy_into(context, current, out);
  };
  if (is_real) return with_floats("pad_backward", out.dtype(), run);
  if (out.dtype() == DType::kComplex128) return run(std::complex<double>{}, DType::kComplex128);
  run(std::complex<float>{}, DType::kComplex64);
}

template <bool kReflects, size_t kDims>
void define_pad_gradient(Library& library, std::string_view schema) {
  library.define(schema)
      .template shape<pad_gradient_shape<Size, kReflects, kDims>,
                      pad_gradient_shape<SymInt, kReflects, kDims>>()
      .template kernel<pad_gradient_kernel<kReflects, kDims>>();
}

}  // namespace

void define_resize_backward(Library& library) {
#define FLAMBEAU_PLAIN(kind, n, more, name, scales)                                                    \
  define_plain_gradient<Resampling::kind, n>(                                                          \
      library, "aten::" name "_backward(Tensor grad_output, SymInt[" #n "] output_size, SymInt[" #more \
               "] input_size, " scales ") -> Tensor")
#define FLAMBEAU_ALIGNED(kind, n, more, name, scales)                                                  \
  define_aligned_gradient<Resampling::kind, n>(                                                        \
      library, "aten::" name "_backward(Tensor grad_output, SymInt[" #n "] output_size, SymInt[" #more \
               "] input_size, bool align_corners, " scales ") -> Tensor")
#define FLAMBEAU_TWO "float? scales_h=None, float? scales_w=None"
#define FLAMBEAU_THREE "float? scales_d=None, float? scales_h=None, float? scales_w=None"
  FLAMBEAU_PLAIN(kNearest, 1, 3, "upsample_nearest1d", "float? scales=None");
  FLAMBEAU_PLAIN(kNearest, 2, 4, "upsample_nearest2d", FLAMBEAU_TWO);
  FLAMBEAU_PLAIN(kNearest, 3, 5, "upsample_nearest3d", FLAMBEAU_THREE);
  FLAMBEAU_PLAIN(kNearestExact, 1, 3, "_upsample_nearest_exact1d", "float? scales=None");
  FLAMBEAU_PLAIN(kNearestExact, 2, 4, "_upsample_nearest_exact2d", FLAMBEAU_TWO);
  FLAMBEAU_PLAIN(kNearestExact, 3, 5, "_upsample_nearest_exact3d", FLAMBEAU_THREE);
  FLAMBEAU_ALIGNED(kLinear, 1, 3, "upsample_linear1d", "float? scales=None");
  FLAMBEAU_ALIGNED(kLinear, 2, 4, "upsample_bilinear2d", FLAMBEAU_TWO);
  FLAMBEAU_ALIGNED(kLinear, 3, 5, "upsample_trilinear3d", FLAMBEAU_THREE);
  FLAMBEAU_ALIGNED(kCubic, 2, 4, "upsample_bicubic2d", FLAMBEAU_TWO);
  FLAMBEAU_ALIGNED(kLinearSmooth, 2, 4, "_upsample_bilinear2d_aa", FLAMBEAU_TWO);
  FLAMBEAU_ALIGNED(kCubicSmooth, 2, 4, "_upsample_bicubic2d_aa", FLAMBEAU_TWO);
  FLAMBEAU_ALIGNED(kLanczosSmooth, 2, 4, "_upsample_lanczos2d_aa", FLAMBEAU_TWO);
#undef FLAMBEAU_PLAIN
#undef FLAMBEAU_ALIGNED
#undef FLAMBEAU_TWO
#undef FLAMBEAU_THREE
#define FLAMBEAU_PAD(reflects, n, twice, name)                                                               \
  define_pad_gradient<reflects, n>(library,                                                                  \
                                   "aten::" name "_backward(Tensor grad_output, Tensor self, SymInt[" #twice \
                                   "] padding) -> Tensor")
  FLAMBEAU_PAD(true, 1, 2, "reflection_pad1d");
  FLAMBEAU_PAD(true, 2, 4, "reflection_pad2d");
  FLAMBEAU_PAD(true, 3, 6, "reflection_pad3d");
  FLAMBEAU_PAD(false, 1, 2, "replication_pad1d");
  FLAMBEAU_PAD(false, 2, 4, "replication_pad2d");
  FLAMBEAU_PAD(false, 3, 6, "replication_pad3d");
#undef FLAMBEAU_PAD
}

}  // namespace flambeau::ops
