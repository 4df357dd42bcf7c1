// Convolutions: the general operator, and its forms by number of dimensions.
#include "flambeau/ops/dense/convolution.h"

#include <fmt/format.h>

#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> convolution_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                          std::span<const N> stride, std::span<const N> padding, std::span<const N> dilation,
                          bool transposed, std::span<const N> output_padding, N groups) {
  return convolution_info(
      input, weight, bias,
      convolution_arguments<N>(weight, stride, padding, dilation, transposed, output_padding, groups));
}

using Numbers = std::span<const Size>;

void convolution_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                        Numbers stride, Numbers padding, Numbers dilation, bool transposed,
                        Numbers output_padding, Size groups, Tensor& out) {
  convolve(context, input, weight, bias,
           convolution_arguments<Size>(info_of(weight), stride, padding, dilation, transposed, output_padding,
                                       groups),
           out);
}

// The same with what only GPUs ask for.
template <typename N>
Info<N> old_convolution_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                              std::span<const N> stride, std::span<const N> padding,
                              std::span<const N> dilation, bool transposed, std::span<const N> output_padding,
                              N groups, bool, bool, bool, bool) {
  return convolution_shape(input, weight, bias, stride, padding, dilation, transposed, output_padding,
                           groups);
}
void old_convolution_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                            Numbers stride, Numbers padding, Numbers dilation, bool transposed,
                            Numbers output_padding, Size groups, bool, bool, bool, bool, Tensor& out) {
  convolution_kernel(context, input, weight, bias, stride, padding, dilation, transposed, output_padding,
                     groups, out);
}
template <typename N>
Info<N> older_convolution_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                                std::span<const N> stride, std::span<const N> padding,
                                std::span<const N> dilation, bool transposed,
                                std::span<const Size> output_padding, N groups, bool, bool, bool) {
  ShortList<N> more;
  for (const int64_t number : output_padding) more.push_back(number);
  return convolution_shape<N>(input, weight, bias, stride, padding, dilation, transposed, more, groups);
}
void older_convolution_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                              Numbers stride, Numbers padding, Numbers dilation, bool transposed,
                              Numbers output_padding, Size groups, bool, bool, bool, Tensor& out) {
  convolution_kernel(context, input, weight, bias, stride, padding, dilation, transposed, output_padding,
                     groups, out);
}

// ---- forms of a fixed number of dimensions, which also take single images

template <typename N>
bool is_batch(const Info<N>& input, size_t dims, std::string_view name) {
  if (input.dim() == dims + 2) return true;
  if (input.dim() == dims + 1) return false;
  fail_argument(
      fmt::format("Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}",
                  dims + 1, dims + 2, name, sizes_text(input.sizes.span())));
}

template <typename N>
Info<N> batched_info(const Info<N>& input, const Info<N>& weight, const Info<N>* bias, size_t dims,
                     std::string_view name, const ConvolutionArguments<N>& arguments) {
  if (is_batch(input, dims, name)) return convolution_info(input, weight, bias, arguments);
  return without_batch(convolution_info(as_batch(input), weight, bias, arguments));
}

void convolve_batched(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                      const ConvolutionArguments<Size>& arguments, const Tensor& out) {
  const auto run = is_complex(out.dtype()) ? &convolve_complex : &convolve;
  if (input.dim() == weight.dim()) return run(context, input, weight, bias, arguments, out);
  run(context, unsqueezed(input, 0), weight, bias, arguments, unsqueezed(out, 0));
}

template <size_t kDims>
constexpr std::string_view kName = kDims == 1   ? "conv1d"
                                   : kDims == 2 ? "conv2d"
                                                : "conv3d";
template <size_t kDims>
constexpr std::string_view kTransposedName = kDims == 1   ? "conv_transpose1d"
                                             : kDims == 2 ? "conv_transpose2d"
                                                          : "conv_transpose3d";

template <typename N, size_t kDims>
Info<N> conv_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                   std::span<const N> stride, std::span<const N> padding, std::span<const N> dilation,
                   N groups) {
  is_batch(input, kDims, kName<kDims>);  // PyTorch looks at the input first
  const ShortList<N> none(1, N(0));
  return batched_info(input, weight, bias, kDims, kName<kDims>,
                      convolution_arguments<N>(weight, stride, padding, dilation, false, none, groups));
}

void conv_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                 Numbers stride, Numbers padding, Numbers dilation, Size groups, Tensor& out) {
  const Dims none{0};
  convolve_batched(
      context, input, weight, bias,
      convolution_arguments<Size>(info_of(weight), stride, padding, dilation, false, none, groups), out);
}

// "valid" is no padding; "same" makes the result as large as the input, with the odd element behind.
template <typename N>
ConvolutionArguments<N> named_padding(const Info<N>& weight, std::span<const N> stride,
                                      std::string_view padding, std::span<const N> dilation, N groups) {
  const ShortList<N> none(1, N(0));
  ConvolutionArguments<N> arguments =
      convolution_arguments<N>(weight, stride, none, dilation, false, none, groups);
  if (padding == "valid") return arguments;
  if (padding != "same") fail_argument(fmt::format("Invalid padding string: '{}'", padding));
  for (size_t d = 0; d + 2 < weight.dim(); ++d) {
    require(arguments.stride[d] == N(1), "padding='same' is not supported for strided convolutions");
    const N total = arguments.dilation[d] * (weight.sizes[d + 2] - N(1));
    arguments.padding[d] = floor_div(total, N(2));
    arguments.more_padding.push_back(total - N(2) * arguments.padding[d]);
  }
  return arguments;
}

template <typename N, size_t kDims>
Info<N> conv_named_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                         std::span<const N> stride, std::string_view padding, std::span<const N> dilation,
                         N groups) {
  return batched_info(input, weight, bias, kDims, kName<kDims>,
                      named_padding<N>(weight, stride, padding, dilation, groups));
}

void conv_named_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                       Numbers stride, std::string_view padding, Numbers dilation, Size groups, Tensor& out) {
  convolve_batched(context, input, weight, bias,
                   named_padding<Size>(info_of(weight), stride, padding, dilation, groups), out);
}

template <typename N, size_t kDims>
Info<N> conv_transpose_shape(const Info<N>& input, const Info<N>& weight, const Info<N>* bias,
                             std::span<const N> stride, std::span<const N> padding,
                             std::span<const N> output_padding, N groups, std::span<const N> dilation) {
  return batched_info(
      input, weight, bias, kDims, kTransposedName<kDims>,
      convolution_arguments<N>(weight, stride, padding, dilation, true, output_padding, groups));
}

void conv_transpose_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
                           Numbers stride, Numbers padding, Numbers output_padding, Size groups,
                           Numbers dilation, Tensor& out) {
  convolve_batched(
      context, input, weight, bias,
      convolution_arguments<Size>(info_of(weight), stride, padding, dilation, true, output_padding, groups),
      out);
}

// ---- as the one operator

// A single number stands for all dimensions of space.
template <size_t kDims>
SymIntList spread(std::span<const SymInt> numbers) {
  return numbers.size() == 1 ? SymIntList(kDims, numbers[0]) : SymIntList(numbers);
}
template <size_t kDims>
Tensor convolution_parts(Context& c, const Tensor& input, const Tensor& weight, const Tensor* bias,
                         const SymIntList& stride, const SymIntList& padding, const SymIntList& dilation,
                         bool transposed, const SymIntList& output_padding, const SymInt& groups) {
  const auto convolve = [&](const Tensor& images) {
    return call(c, "aten::convolution", images, weight, bias, stride, padding, dilation, transposed,
                output_padding, groups);
  };
  if (rank_of(input) != kDims + 1) return convolve(input);
  return call(c, "aten::squeeze.dim", convolve(call(c, "aten::unsqueeze", input, 0)), 0);
}
template <size_t kDims>
Tensor conv_parts(Context& c, const Tensor& input, const Tensor& weight, const Tensor* bias,
                  std::span<const SymInt> stride, std::span<const SymInt> padding,
                  std::span<const SymInt> dilation, SymInt groups) {
  return convolution_parts<kDims>(c, input, weight, bias, spread<kDims>(stride), spread<kDims>(padding),
                                  spread<kDims>(dilation), false, SymIntList(kDims, SymInt(0)), groups);
}
// Padding by name. What is odd of it is added to the input.
template <size_t kDims>
Tensor conv_named_parts(Context& c, const Tensor& given, const Tensor& weight, const Tensor* bias,
                        std::span<const SymInt> stride, std::string_view padding,
                        std::span<const SymInt> given_dilation, SymInt groups) {
  const SymIntList dilation = spread<kDims>(given_dilation);
  SymIntList even(kDims, SymInt(0));
  Dims odd(2 * kDims, 0);
  bool has_odd = false;
  for (size_t d = 0; padding == "same" && d < kDims; ++d) {
    const int64_t kernel = fixed(size_of(weight, static_cast<int64_t>(d) + 2));
    const Size total = Size(fixed(dilation[d])) * (kernel - 1);
    even[d] = total / 2;
    odd[2 * (kDims - 1 - d) + 1] = total % 2;
    has_odd = has_odd || total % 2 != 0;
  }
  const Tensor input = has_odd ? call(c, "aten::constant_pad_nd", given, odd, 0) : given;
  return convolution_parts<kDims>(c, input, weight, bias, spread<kDims>(stride), even, dilation, false,
                                  SymIntList(kDims, SymInt(0)), groups);
}
template <size_t kDims>
Tensor conv_transpose_parts(Context& c, const Tensor& input, const Tensor& weight, const Tensor* bias,
                            std::span<const SymInt> stride, std::span<const SymInt> padding,
                            std::span<const SymInt> output_padding, SymInt groups,
                            std::span<const SymInt> dilation) {
  return convolution_parts<kDims>(c, input, weight, bias, spread<kDims>(stride), spread<kDims>(padding),
                                  spread<kDims>(dilation), true, spread<kDims>(output_padding), groups);
}

// ---- facts

ConvolutionCall convolution_call(const Tensor& input, const Tensor& weight, const Tensor* bias,
                                 Numbers stride, Numbers padding, Numbers dilation, bool transposed,
                                 Numbers output_padding, Size groups) {
  return {&input, &weight, bias, stride, padding, dilation, groups, transposed, output_padding};
}
ConvolutionCall conv_call(const Tensor& input, const Tensor& weight, const Tensor* bias, Numbers stride,
                          Numbers padding, Numbers dilation, Size groups) {
  return {&input, &weight, bias, stride, padding, dilation, groups};
}
ConvolutionCall conv_transpose_call(const Tensor& input, const Tensor& weight, const Tensor* bias,
                                    Numbers stride, Numbers padding, Numbers output_padding, Size groups,
                                    Numbers dilation) {
  return {&input, &weight, bias, stride, padding, dilation, groups, true, output_padding};
}

// The weights of one channel meet every element of the result, or of the input where it goes backward.
uint64_t weight_work(const Tensor& met, const Tensor& weight) {
  if (weight.dim() < 2 || weight.sizes()[0] == 0) return 0;
  return static_cast<uint64_t>(2 * (weight.element_count() / weight.sizes()[0]) * met.element_count());
}
uint64_t conv_work(const Tensor& out, const Tensor&, const Tensor& weight) {
  return weight_work(out, weight);
}
uint64_t conv_transpose_work(const Tensor&, const Tensor& input, const Tensor& weight) {
  return weight_work(input, weight);
}
uint64_t convolution_work(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor*,
                          const Value&, const Value&, const Value&, bool transposed) {
  return weight_work(transposed ? input : out, weight);
}

template <size_t kDims>
void define_dims(Library& library, std::string_view plain, std::string_view named,
                 std::string_view transposed) {
  library.define(plain)
      .template shape<conv_shape<Size, kDims>, conv_shape<SymInt, kDims>>()
      .template kernel<conv_kernel>()
      .template composite<conv_parts<kDims>>()
      .is(Trait::kAnyLayout, kDims == 2)
      .template describe<conv_call>()
      .template work<conv_work>();
  library.define(named)
      .template shape<conv_named_shape<Size, kDims>, conv_named_shape<SymInt, kDims>>()
      .template kernel<conv_named_kernel>()
      .template composite<conv_named_parts<kDims>>()
      .is(Trait::kAnyLayout, kDims == 2)
      .template work<conv_work>();
  library.define(transposed)
      .template shape<conv_transpose_shape<Size, kDims>, conv_transpose_shape<SymInt, kDims>>()
      .template kernel<conv_transpose_kernel>()
      .template composite<conv_transpose_parts<kDims>>()
      .template describe<conv_transpose_call>()
      .template work<conv_transpose_work>();
}

}  // namespace

void define_convolution(Library& library) {
  library
      .define(
          "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
          "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor")
      .shape<convolution_shape<Size>, convolution_shape<SymInt>>()
      .kernel<convolution_kernel>()
      .is(Trait::kAnyLayout)
      .describe<convolution_call>()
      .work<convolution_work>();
  library
      .define(
          "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
          "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool "
          "deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor")
      .shape<old_convolution_shape<Size>, old_convolution_shape<SymInt>>()
      .kernel<old_convolution_kernel>()
      .is(Trait::kAnyLayout)
      .describe<convolution_call>()
      .work<convolution_work>();
  library
      .define(
          "aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
          "SymInt[] "
          "padding, SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, "
          "bool deterministic, bool cudnn_enabled) -> Tensor")
      .shape<older_convolution_shape<Size>, older_convolution_shape<SymInt>>()
      .kernel<older_convolution_kernel>()
      .is(Trait::kAnyLayout)
      .describe<convolution_call>()
      .work<convolution_work>();
  define_dims<1>(
      library,
      "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
      "padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
      "aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
      "str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
      "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
      "SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] "
      "dilation=[1]) -> Tensor");
  define_dims<2>(library,
                 "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
                 "SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
                 "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, "
                 "1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
                 "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
                 "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, "
                 "SymInt[2] dilation=[1, 1]) -> Tensor");
  define_dims<3>(
      library,
      "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
      "SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
      "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, "
      "1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
      "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
      "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt "
      "groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor");
}

}  // namespace flambeau::ops
