// Making quantized tensors, looking into them, and back to real numbers.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/quantized/numbers.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

Tensor quantize_per_tensor(Context& context, const Tensor& self, double scale, Size zero_point, DType dtype) {
  return quantize(context, self, dtype, checked_quantizer(scale, zero_point.value(), dtype));
}

Tensor quantize_by_tensors(Context& context, const Tensor& self, const Tensor& scale,
                           const Tensor& zero_point, DType dtype) {
  return quantize_per_tensor(context, self, item(scale).to_double(), Size(item(zero_point).to_int()), dtype);
}

TensorList quantize_all(Context& context, std::span<const Tensor> tensors, const Tensor& scales,
                        const Tensor& zero_points, DType dtype) {
  const std::vector<double> scale = numbers_of<double>(scales);
  const std::vector<int64_t> zero_point = numbers_of<int64_t>(zero_points);
  if (scale.size() != tensors.size() || zero_point.size() != tensors.size()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} tensors, {} scales and {} zero points are given",
                                                         tensors.size(), scale.size(), zero_point.size()));
  }
  TensorList results;
  for (size_t i = 0; i < tensors.size(); ++i)
    results.push_back(quantize_per_tensor(context, tensors[i], scale[i], Size(zero_point[i]), dtype));
  return results;
}

// As PyTorch keeps them: float64 and int64, or float32 both where zero points are no integers.
Quantizer channel_quantizer(Context& context, const Tensor& scales, const Tensor& zero_points, int64_t axis,
                            size_t rank) {
  const bool has_float_points = is_floating(zero_points.dtype());
  Quantizer quantizer;
  quantizer.scheme = has_float_points ? Quantizer::Scheme::kPerChannelAffineFloatQParams
                                      : Quantizer::Scheme::kPerChannelAffine;
  quantizer.scales = parts::packed(
      context, parts::to_dtype(context, scales, has_float_points ? DType::kFloat32 : DType::kFloat64));
  quantizer.zero_points = parts::packed(
      context, parts::to_dtype(context, zero_points, has_float_points ? DType::kFloat32 : DType::kInt64));
  if (axis < 0 || axis >= static_cast<int64_t>(rank))
    fail_view(fmt::format("Channel axis out of range in per channel affine quantization: {}", axis));
  quantizer.axis = axis;
  return quantizer;
}

void check_channels(const Quantizer& quantizer, const SymInt& channels) {
  for (const Tensor* const part : {&quantizer.scales, &quantizer.zero_points}) {
    if (part->dim() != 1 || !(SymInt(part->element_count()) == channels))
      fail_view(fmt::format("scales and zero points must be lists of {} numbers, not {}",
                            Value(channels).summary(), part->summary()));
  }
}

Tensor quantize_per_channel(Context& context, const Tensor& self, const Tensor& scales,
                            const Tensor& zero_points, Size axis, DType dtype) {
  const IntegerRange range = integer_range(dtype);
  const Quantizer quantizer = channel_quantizer(context, scales, zero_points, axis.value(), self.dim());
  check_channels(quantizer, size_of(self, axis.value()));
  if (quantizer.scheme == Quantizer::Scheme::kPerChannelAffine) {
    for (const int64_t point : numbers_of<int64_t>(quantizer.zero_points)) {
      if (point < range.least || point > range.most)
        fail_view(fmt::format("the zero point {} is outside of {}", point, dtype_name(dtype)));
    }
  }
  return quantize(context, self, dtype, quantizer);
}

// The whole range of a type, or half of it, for sums of products that must not overflow.
IntegerRange dynamic_range(DType dtype, bool reduce_range) {
  IntegerRange range = integer_range(dtype);
  if (reduce_range) range = {range.least / 2, range.most / 2};
  return range;
}

Tensor quantize_dynamic(Context& context, const Tensor& self, DType dtype, bool reduce_range) {
  if (dtype != DType::kQInt8 && dtype != DType::kQUInt8) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("dynamic quantization gives qint8 or quint8, not {}", dtype_name(dtype)));
  }
  const auto [least, most] = extremes_of(context, self);
  const IntegerRange range = dynamic_range(dtype, reduce_range);
  const QuantizationParameters chosen = choose_parameters(least, most, range.least, range.most);
  return quantize(context, self, dtype, {.scale = chosen.scale, .zero_point = chosen.zero_point});
}

std::tuple<double, int64_t> choose_per_tensor(Context& context, const Tensor& self, bool reduce_range) {
  const auto [least, most] = extremes_of(context, self);
  const IntegerRange range = dynamic_range(DType::kQUInt8, reduce_range);
  const QuantizationParameters chosen = choose_parameters(least, most, range.least, range.most);
  return {chosen.scale, chosen.zero_point};
}

Tensor dequantize_self(Context& context, const Tensor& self) {
  if (is_quantized(self)) return dequantized(context, self);
  return parts::to_dtype(context, self, DType::kFloat32);
}
TensorList dequantize_tensors(Context& context, std::span<const Tensor> tensors) {
  TensorList results;
  for (const Tensor& tensor : tensors) results.push_back(dequantize_self(context, tensor));
  return results;
}

Tensor int_repr(Context& context, const Tensor& self) {
  quantizer_of(self);
  if (dtype_info(self.dtype()).per_byte == 1) return call(context, "aten::clone", integers_of(self));
  // Packed ones are given as a list of the bytes they share.
  const ByteSpan bytes = self.contiguous_bytes();
  const Dims sizes = {static_cast<int64_t>(self.byte_count())};
  Tensor result = Tensor::zeros(DType::kUInt8, sizes);
  const MutableByteSpan to = result.mutable_contiguous_bytes();
  if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), std::min(to.size(), bytes.size()));
  return result;
}

double q_scale(const Tensor& self) { return per_tensor(self).scale; }
int64_t q_zero_point(const Tensor& self) { return per_tensor(self).zero_point; }
const Quantizer& per_channel(const Tensor& self) {
  const Quantizer& quantizer = quantizer_of(self);
  if (!quantizer.is_per_channel()) fail_view(fmt::format("{} is not quantized per channel", self.summary()));
  return quantizer;
}
Tensor channel_scales(const Tensor& self) { return per_channel(self).scales; }
Tensor channel_zero_points(const Tensor& self) { return per_channel(self).zero_points; }
int64_t channel_axis(const Tensor& self) { return per_channel(self).axis; }
int64_t qscheme(const Tensor& self) { return static_cast<int64_t>(quantizer_of(self).scheme); }

DType quantized_dtype(DType integer) {
  if (integer == DType::kInt8) return DType::kQInt8;
  if (integer == DType::kUInt8) return DType::kQUInt8;
  if (integer == DType::kInt32) return DType::kQInt32;
  fail_view(fmt::format("integers of int8, uint8 or int32 are expected, not {}", dtype_name(integer)));
}

Tensor make_per_tensor(Context& context, const Tensor& self, double scale, Size zero_point) {
  const DType dtype = quantized_dtype(self.dtype());
  return quantized_over(call(context, "aten::clone", self, MemoryFormat::kContiguous), dtype,
                        {.scale = scale, .zero_point = zero_point.value()});
}
Tensor make_per_channel(Context& context, const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                        Size axis) {
  const DType dtype = quantized_dtype(self.dtype());
  const Quantizer quantizer = channel_quantizer(context, scale, zero_point, axis.value(), self.dim());
  check_channels(quantizer, size_of(self, axis.value()));
  return quantized_over(call(context, "aten::clone", self, MemoryFormat::kContiguous), dtype, quantizer);
}

Tensor empty_of(std::span<const Size> sizes, std::optional<DType> dtype, const Quantizer& quantizer,
                std::optional<MemoryFormat> format) {
  if (!dtype) fail_view("a quantized type must be given");
  integer_range(*dtype);
  for (const Size& size : sizes) {
    if (size < 0) fail_view(fmt::format("a size is negative: {}", size.value()));
  }
  Tensor tensor = Tensor::zeros(*dtype, plain(sizes));
  if (format && (*format == MemoryFormat::kChannelsLast || *format == MemoryFormat::kChannelsLast3d)) {
    const Info<Size> info = formatted<Size>(*dtype, ShortList<Size>(sizes), *format, {});
    tensor = tensor.with_geometry({info.sizes, info.strides, 0});
  }
  return Tensor::quantized(tensor, quantizer);
}
Tensor empty_affine(std::span<const Size> sizes, std::optional<DType> dtype, std::optional<Layout>,
                    std::optional<Device>, std::optional<bool>, double scale, Size zero_point,
                    std::optional<MemoryFormat> format) {
  return empty_of(sizes, dtype, {.scale = scale, .zero_point = zero_point.value()}, format);
}
Tensor empty_per_channel(Context& context, std::span<const Size> sizes, const Tensor& scales,
                         const Tensor& zero_points, Size axis, std::optional<DType> dtype,
                         std::optional<Layout>, std::optional<Device>, std::optional<bool>,
                         std::optional<MemoryFormat> format) {
  const Quantizer quantizer = channel_quantizer(context, scales, zero_points, axis.value(), sizes.size());
  check_channels(quantizer, SymInt(sizes[static_cast<size_t>(axis.value())].value()));
  return empty_of(sizes, dtype, quantizer, format);
}
Tensor empty_quantized(std::span<const Size> sizes, const Tensor& like, std::optional<DType> dtype,
                       std::optional<Layout>, std::optional<Device>, std::optional<bool>,
                       std::optional<MemoryFormat> format) {
  return empty_of(sizes, dtype.value_or(like.dtype()), quantizer_of(like), format);
}

template <typename N>
Info<N> saturate_shape(const Info<N>& weight) {
  return contiguous(weight.dtype, weight.sizes, weight.device);
}
Tensor saturate_to_half(Context& context, const Tensor& weight) {
  constexpr double kMostHalf = 65504;
  return call(context, "aten::clamp", weight, -kMostHalf, kMostHalf);
}

}  // namespace

void define_quantize(Library& library) {
  library
      .define(
          "aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor")
      .quantized<quantize_per_tensor>();
  library
      .define(
          "aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType "
          "dtype) -> Tensor")
      .quantized<quantize_by_tensors>();
  library
      .define(
          "aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType "
          "dtype) -> Tensor[]")
      .quantized<quantize_all>();
  library
      .define(
          "aten::quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType "
          "dtype) -> Tensor")
      .quantized<quantize_per_channel>();
  library
      .define("aten::quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor")
      .quantized<quantize_dynamic>();
  library.define("aten::_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)")
      .function<choose_per_tensor>();
  library.define("aten::dequantize.self(Tensor self) -> Tensor").quantized<dequantize_self>();
  library.define("aten::dequantize.tensor(Tensor qtensor) -> Tensor").quantized<dequantize_self>();
  library.define("aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]").quantized<dequantize_tensors>();
  library.define("aten::dequantize.list(Tensor[] qtensors) -> Tensor[]").quantized<dequantize_tensors>();
  library.define("aten::int_repr(Tensor self) -> Tensor").quantized<int_repr>();
  library.define("aten::q_scale(Tensor self) -> float").quantized<q_scale>();
  library.define("aten::q_zero_point(Tensor self) -> int").quantized<q_zero_point>();
  library.define("aten::q_per_channel_scales(Tensor self) -> Tensor").quantized<channel_scales>();
  library.define("aten::q_per_channel_zero_points(Tensor self) -> Tensor").quantized<channel_zero_points>();
  library.define("aten::q_per_channel_axis(Tensor self) -> int").quantized<channel_axis>();
  library.define("aten::qscheme(Tensor self) -> QScheme").quantized<qscheme>();
  library
      .define("aten::_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor")
      .function<make_per_tensor>();
  library
      .define(
          "aten::_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor zero_point, int axis) "
          "-> Tensor")
      .function<make_per_channel>();
  library
      .define(
          "aten::_empty_affine_quantized(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, float scale=1., int zero_point=0, MemoryFormat? "
          "memory_format=0) -> Tensor")
      .function<empty_affine>();
  library
      .define(
          "aten::_empty_per_channel_affine_quantized(SymInt[] size, *, Tensor scales, Tensor zero_points, "
          "int "
          "axis, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
          "MemoryFormat? memory_format=0) -> Tensor")
      .function<empty_per_channel>();
  library
      .define(
          "aten::empty_quantized(int[] size, Tensor qtensor, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")
      .quantized<empty_quantized>();
  library.define("aten::_saturate_weight_to_fp16(Tensor weight) -> Tensor")
      .shape<saturate_shape<Size>, saturate_shape<SymInt>>()
      .composite<saturate_to_half>();
}

}  // namespace flambeau::ops
