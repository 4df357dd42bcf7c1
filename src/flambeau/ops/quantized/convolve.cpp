#include <fmt/format.h>

#include <cstring>

#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/quantized/in_programs.h"
#include "flambeau/ops/quantized/packed_convolution.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// Three numbers, whatever the dimensions are: those in front that are missing are `missing`.
std::array<int64_t, 3> three(std::span<const int64_t> numbers, int64_t missing) {
  std::array<int64_t, 3> all = {missing, missing, missing};
  for (size_t d = 0; d < numbers.size(); ++d) all[3 - numbers.size() + d] = numbers[d];
  return all;
}

// Where the taps of a result lie in the input.
struct Windows {
  Windows(const PackedConvolution& convolution, const Tensor& input);

  std::array<int64_t, 3> in, out, kernel, stride, padding, dilation;
  Dims sizes;  // of the result
  bool is_transposed;

  // The place of a tap along a dimension; below zero where there is none.
  int64_t place(size_t d, int64_t at, int64_t tap) const {
    if (!is_transposed) {
      const int64_t i = at * stride[d] - padding[d] + tap * dilation[d];
      return i < in[d] ? i : -1;
    }
    const int64_t i = at + padding[d] - tap * dilation[d];
    if (i < 0 || i % stride[d] != 0) return -1;
    return i / stride[d] < in[d] ? i / stride[d] : -1;
  }
};

Windows::Windows(const PackedConvolution& convolution, const Tensor& input) {
  const PackedConvolution::Parameters& given = convolution.parameters;
  const size_t dims = given.dims();
  if (input.dim() != dims + 2 || input.sizes()[1] != convolution.in_channels) {
    fail_view(fmt::format("a convolution in {} dimensions over {} channels takes no {}", dims,
                          convolution.in_channels, input.summary()));
  }
  const std::span<const int64_t> spatial = std::span(input.sizes().begin(), input.sizes().end()).subspan(2);
  const std::span<const int64_t> kernels =
      std::span(convolution.weight.sizes().begin(), convolution.weight.sizes().end()).subspan(2);
  in = three(spatial, 1);
  kernel = three(kernels, 1);
  stride = three(given.stride, 1);
  padding = three(given.padding, 0);
  dilation = three(given.dilation, 1);
  is_transposed = given.is_transposed;
  const std::array<int64_t, 3> more = three(given.output_padding, 0);
  sizes = {input.sizes()[0], convolution.out_channels};
  for (size_t d = 0; d < 3; ++d) {
    const Size reach = Size(dilation[d]) * (kernel[d] - 1) + 1;
    const Size size = is_transposed ? (Size(in[d]) - 1) * stride[d] - Size(2) * padding[d] + reach + more[d]
                                    : (Size(in[d]) + Size(2) * padding[d] - reach) / Size(stride[d]) + 1;
    const bool fits = is_transposed || Size(in[d]) + Size(2) * padding[d] >= reach;
    if (size <= 0 || !fits)
      fail_view(fmt::format("the kernel {} is larger than the padded input {}",
                            Value(Dims(kernels)).summary(), input.summary()));
    out[d] = size.value();
    if (d >= 3 - dims) sizes.push_back(size.value());
  }
}

MemoryFormat format_of(size_t dims) {
  return dims == 2 ? MemoryFormat::kChannelsLast : MemoryFormat::kChannelsLast3d;
}

// Calls take(place of the result, first channel, channels, sums) for every place. Both sides lie channels
// last.
using Take = std::function<void(int64_t place, int64_t first, int64_t channels, const int32_t* sums)>;

// Every channel by itself: sums go on over all channels at once, tap after tap.
void run_depthwise(Context& context, const int16_t* shifted, int64_t batch,
                   const PackedConvolution& convolution, const Windows& windows, const Take& take) {
  const std::array<int64_t, 3>&out = windows.out, &in = windows.in, &kernel = windows.kernel;
  const int64_t channels = convolution.in_channels;
  const auto count = static_cast<size_t>(channels);
  const int64_t taps = kernel[0] * kernel[1] * kernel[2];
  ScratchVector<int16_t> weight(count * static_cast<size_t>(taps));
  for (int64_t c = 0; c < channels; ++c) {
    const int16_t* const row = convolution.groups[static_cast<size_t>(c)].row(0);
    for (int64_t t = 0; t < taps; ++t) weight[static_cast<size_t>(t * channels + c)] = row[t];
  }
  const int64_t lines = batch * out[0] * out[1];
  const Cost cost{.operations = static_cast<double>(out[2] * taps * channels), .bytes = 0};
  context.pool().for_each_range(static_cast<size_t>(lines), cost.grain(), [&](size_t begin, size_t end) {
    ScratchVector<int32_t> sums(count);
    for (size_t line = begin; line < end; ++line) {
      poll_work();
      const auto l = static_cast<int64_t>(line);
      const int64_t y = l % out[1], z = l / out[1] % out[0], n = l / (out[1] * out[0]);
      for (int64_t x = 0; x < out[2]; ++x) {
        std::ranges::fill(sums, 0);
        const int16_t* by = weight.data();
        for (int64_t tap = 0; tap < taps; ++tap, by += channels) {
          const int64_t iz = windows.place(0, z, tap / (kernel[1] * kernel[2]));
          const int64_t iy = windows.place(1, y, tap / kernel[2] % kernel[1]);
          const int64_t ix = windows.place(2, x, tap % kernel[2]);
          if (iz < 0 || iy < 0 || ix < 0) continue;
          const int16_t* const from = shifted + (((n * in[0] + iz) * in[1] + iy) * in[2] + ix) * channels;
          for (size_t c = 0; c < count; ++c) sums[c] += int32_t{from[c]} * by[c];
        }
        take(l * out[2] + x, 0, channels, sums.data());
      }
    }
  });
}

void run_convolution(Context& context, const Tensor& input, const PackedConvolution& convolution,
                     const Windows& windows, const Take& take) {
  const Tensor packed = call(context, "aten::contiguous", input, format_of(convolution.parameters.dims()));
  const auto zero_point = static_cast<int32_t>(per_tensor(input).zero_point);
  const int64_t channels = convolution.in_channels;
  const auto count = static_cast<size_t>(packed.element_count());
  ScratchVector<int16_t> shifted(count);
  const bool is_signed = input.dtype() == DType::kQInt8;
  const uint8_t* const q = packed.data();
  constexpr size_t kConvertGrain = 16384;
  context.pool().for_each_range(count, kConvertGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      shifted[i] = static_cast<int16_t>((is_signed ? static_cast<int8_t>(q[i]) : q[i]) - zero_point);
  });
  const std::array<int64_t, 3>& out = windows.out;
  const std::array<int64_t, 3>& in = windows.in;
  const std::array<int64_t, 3>& kernel = windows.kernel;
  const int64_t groups = convolution.parameters.groups;
  const int64_t in_group = channels / groups, out_group = convolution.out_channels / groups;
  if (in_group == 1 && out_group == 1)
    return run_depthwise(context, shifted.data(), input.sizes()[0], convolution, windows, take);
  for (int64_t group = 0; group < groups; ++group) {
    const IntegerMatrix& weight = convolution.groups[static_cast<size_t>(group)];
    const int16_t* const base = shifted.data() + group * in_group;
    IntegerProduct product;
    product.rows = input.sizes()[0] * out[0] * out[1] * out[2];
    product.right = &weight;
    product.fill = [&, base](int64_t row, int16_t* to) {
      const int64_t x = row % out[2], y = row / out[2] % out[1];
      const int64_t z = row / (out[2] * out[1]) % out[0], n = row / (out[2] * out[1] * out[0]);
      for (int64_t kz = 0; kz < kernel[0]; ++kz) {
        const int64_t iz = windows.place(0, z, kz);
        for (int64_t ky = 0; ky < kernel[1]; ++ky) {
          const int64_t iy = windows.place(1, y, ky);
          for (int64_t kx = 0; kx < kernel[2]; ++kx, to += in_group) {
            const int64_t ix = windows.place(2, x, kx);
            if (iz < 0 || iy < 0 || ix < 0) {
              std::memset(to, 0, static_cast<size_t>(in_group) * sizeof(int16_t));
            } else {
              const int64_t at = ((n * in[0] + iz) * in[1] + iy) * in[2] + ix;
              std::memcpy(to, base + at * channels, static_cast<size_t>(in_group) * sizeof(int16_t));
            }
          }
        }
      }
    };
    product.take = [&, group](int64_t row, const int32_t* sums) {
      take(row, group * out_group, out_group, sums);
    };
    run_product(context, product);
  }
}

Info<Size> result_info(const Windows& windows, DType dtype) {
  return formatted<Size>(dtype, ShortList<Size>(windows.sizes), format_of(windows.sizes.size() - 2), {});
}

void require_numbers(std::span<const int64_t> numbers, size_t count, int64_t least, std::string_view what) {
  bool fits = numbers.size() == count;
  for (const int64_t number : numbers) fits = fits && number >= least && number < (int64_t{1} << 31);
  if (!fits)
    fail_view(fmt::format("the {} {} is none of {} dimensions", what, Value(Dims(numbers)).summary(), count));
}

}  // namespace

PackedConvolution::PackedConvolution(Tensor given_weight, Tensor given_bias, Parameters given)
    : weight(std::move(given_weight)), bias(std::move(given_bias)), parameters(std::move(given)) {
  const size_t dims = parameters.dims();
  if (weight.dtype() != DType::kQInt8 || weight.dim() != dims + 2 || (dims != 2 && dims != 3))
    fail_view(
        fmt::format("{} is no quantized weight of a convolution in {} dimensions", weight.summary(), dims));
  require_numbers(parameters.stride, dims, 1, "stride");
  require_numbers(parameters.padding, dims, 0, "padding");
  require_numbers(parameters.dilation, dims, 1, "dilation");
  require_numbers(parameters.output_padding, dims, 0, "output padding");
  const int64_t count = parameters.groups;
  const bool is_transposed = parameters.is_transposed;
  const Dims& sizes = weight.sizes();
  if (count < 1 || sizes[0] % count != 0 || sizes[0] == 0)
    fail_view(fmt::format("{} cannot be divided into {} groups", weight.summary(), count));
  out_channels = is_transposed ? (Size(sizes[1]) * count).value() : sizes[0];
  in_channels = is_transposed ? sizes[0] : (Size(sizes[1]) * count).value();
  if (bias.defined() &&
      (bias.dim() != 1 || bias.sizes()[0] != out_channels || bias.dtype() != DType::kFloat32))
    fail_view(fmt::format("the bias is float32[{}], not {}", out_channels, bias.summary()));
  scales = std::make_unique<RowScales>(weight, is_transposed ? 1 : 0, out_channels);
  const Tensor integers = integers_of(weight.to_contiguous());
  int64_t taps = 1;
  for (size_t d = 2; d < sizes.size(); ++d) taps *= sizes[d];
  const int64_t out_group = out_channels / count, in_group = in_channels / count;
  for (int64_t g = 0; g < count; ++g) {
    IntegerMatrix matrix(out_group, (Size(taps) * in_group).value());
    for (int64_t o = 0; o < out_group && matrix.depth > 0; ++o) {
      const int64_t channel = g * out_group + o;
      const auto zero_point = static_cast<int32_t>(scales->zero_points[static_cast<size_t>(channel)]);
      const auto* const q = integers.data<int8_t>();
      int16_t* const to = matrix.row(o);
      for (int64_t c = 0; c < in_group; ++c) {
        const int64_t from = is_transposed ? (g * in_group + c) * sizes[1] + o : channel * sizes[1] + c;
        for (int64_t t = 0; t < taps; ++t)
          to[t * in_group + c] = static_cast<int16_t>(q[from * taps + t] - zero_point);
      }
    }
    groups.push_back(std::move(matrix));
  }
}

Tensor convolve(Context& context, const Tensor& input, const PackedConvolution& convolution, double scale,
                int64_t zero_point, bool has_relu) {
  if (input.dtype() != DType::kQUInt8 && input.dtype() != DType::kQInt8)
    fail_view(fmt::format("a quantized convolution takes tensors of quint8, not {}", input.summary()));
  const Quantizer result = checked_quantizer(scale, zero_point, input.dtype());
  if (lacks_elements(input)) {
    const Tensor real = convolution_in_program(context, convolution, dequantized(context, input));
    return quantize(context, has_relu ? call(context, "aten::relu", real) : real, input.dtype(), result);
  }
  const Windows windows(convolution, input);
  const Tensor out = fresh_quantized(context, result_info(windows, input.dtype()), input.dtype(), result);
  if (out.element_count() == 0) return out;
  const Requantization finish(per_tensor(input), *convolution.scales, convolution.bias, result, input.dtype(),
                              has_relu);
  uint8_t* const to = out.mutable_data();
  const int64_t channels = convolution.out_channels;
  run_convolution(context, input, convolution, windows,
                  [&](int64_t place, int64_t first, int64_t count, const int32_t* sums) {
                    finish(sums, first, count, to + place * channels + first);
                  });
  return out;
}

Tensor convolve_dynamic(Context& context, const Tensor& input, const PackedConvolution& convolution,
                        bool reduce_range) {
  if (input.dtype() != DType::kFloat32)
    fail_view(fmt::format("a dynamic convolution takes tensors of float32, not {}", input.summary()));
  if (lacks_elements(input)) {
    const ChosenScale scale = chosen_in_program(context, input, reduce_range);
    const Tensor rounded = rounded_in_program(context, input, scale);
    return rounded_in_program(context, convolution_in_program(context, convolution, rounded), scale);
  }
  const auto [least, most] = extremes_of(context, input);
  const QuantizationParameters chosen = choose_parameters(least, most, 0, reduce_range ? 127 : 255);
  const Quantizer by{.scale = chosen.scale, .zero_point = chosen.zero_point};
  // The result has the scale of the input for a moment, and is cut off at its range: PyTorch's way.
  const Tensor integers = quantize(context, input, DType::kQUInt8, by);
  return dequantized(context, convolve(context, integers, convolution, by.scale, by.zero_point, false));
}

}  // namespace flambeau::ops
