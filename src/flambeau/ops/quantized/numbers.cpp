#include "flambeau/ops/quantized/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/quantized/in_programs.h"
#include "flambeau/ops/quantized/integer_rows.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/tensor/elements/convert.h"
#include "flambeau/tensor/elements/dequantize.h"

namespace flambeau::ops {
namespace {

constexpr size_t kQuantizedGrain = 16384;

[[noreturn]] void fail_quantizer(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

// One number, as packed types and 32-bit integers take it.
int64_t whole(double value, IntegerRange range) {
  if (std::isnan(value)) return range.least;
  value = std::nearbyint(value);
  if (value <= static_cast<double>(range.least)) return range.least;
  if (value >= static_cast<double>(range.most)) return range.most;
  return static_cast<int64_t>(value);
}

void store_integer(uint8_t* q, DType dtype, size_t i, int64_t value) {
  switch (dtype) {
    case DType::kQInt32: {
      const auto narrow = static_cast<int32_t>(value);
      std::memcpy(q + 4 * i, &narrow, 4);
      break;
    }
    case DType::kQUInt4x2:
      if (i % 2 == 0) q[i / 2] = 0;
      q[i / 2] = static_cast<uint8_t>(q[i / 2] | (value << (i % 2 * 4)));
      break;
    case DType::kQUInt2x4:
      if (i % 4 == 0) q[i / 4] = 0;
      q[i / 4] = static_cast<uint8_t>(q[i / 4] | (value << (i % 4 * 2)));
      break;
    default:
      q[i] = static_cast<uint8_t>(value);
  }
}

void quantize_channels(const Tensor& real, const Quantizer& quantizer, DType dtype, uint8_t* q) {
  const auto axis = static_cast<size_t>(quantizer.axis);
  const IntegerRange range = integer_range(dtype);
  const bool has_float_points = quantizer.scheme == Quantizer::Scheme::kPerChannelAffineFloatQParams;
  const std::vector<float> scales = numbers_of<float>(quantizer.scales);
  const std::vector<float> points = numbers_of<float>(quantizer.zero_points);
  size_t inner = 1;
  for (size_t d = axis + 1; d < real.dim(); ++d) inner *= static_cast<size_t>(real.sizes()[d]);
  const auto* const x = real.data<float>();
  const auto count = static_cast<size_t>(real.element_count());
  WorkPoller poll;
  for (size_t i = 0; i < count; ++i) {
    poll();
    const size_t channel = i / inner % scales.size();
    const float inverse = has_float_points && scales[channel] == 0 ? 1.0F : 1.0F / scales[channel];
    const float value = x[i] * inverse + points[channel];
    store_integer(q, dtype, i, whole(static_cast<double>(value), range));
  }
}

}  // namespace

IntegerRange integer_range(DType quantized) {
  switch (quantized) {
    case DType::kQInt8:
      return {-128, 127};
    case DType::kQUInt8:
      return {0, 255};
    case DType::kQInt32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kQUInt4x2:
      return {0, 15};
    case DType::kQUInt2x4:
      return {0, 3};
    default:
      fail_quantizer(fmt::format("a quantized type is expected, not {}", dtype_name(quantized)));
  }
}

Quantizer checked_quantizer(double scale, int64_t zero_point, DType dtype) {
  const IntegerRange range = integer_range(dtype);
  if (zero_point < range.least || zero_point > range.most) {
    fail_quantizer(fmt::format("the zero point {} is outside of {}, which goes from {} to {}", zero_point,
                               dtype_name(dtype), range.least, range.most));
  }
  if (!(static_cast<float>(scale) > 0) || !std::isfinite(scale))
    fail_quantizer(fmt::format("the scale {} is no positive number", scale));
  return {.scale = scale, .zero_point = zero_point};
}

const Quantizer& per_tensor(const Tensor& tensor) {
  const Quantizer& quantizer = quantizer_of(tensor);
  if (quantizer.is_per_channel() || dtype_info(tensor.dtype()).per_byte > 1) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is not quantized per tensor, in whole bytes", tensor.summary()),
                "dequantize it first: aten::dequantize.self");
  }
  return quantizer;
}

Affine::Affine(const Quantizer& quantizer)
    : scale(static_cast<float>(quantizer.scale)),
      inverse(1.0F / scale),
      zero_point(static_cast<int32_t>(quantizer.zero_point)) {}

void quantize_numbers(const float* x, size_t count, const Affine& affine, DType dtype, uint8_t* q) {
  const auto zero_point = static_cast<float>(affine.zero_point);
  if (dtype == DType::kQInt8) {
    static const auto row = FLAMBEAU_PICK(quantize_signed);
    return row(x, affine.inverse, zero_point, reinterpret_cast<int8_t*>(q), count);
  }
  if (dtype == DType::kQUInt8) {
    static const auto row = FLAMBEAU_PICK(quantize_unsigned);
    return row(x, affine.inverse, zero_point, q, count);
  }
  const IntegerRange range = integer_range(dtype);
  for (size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(x[i] * affine.inverse) + affine.zero_point;
    store_integer(q, dtype, i, whole(value, range));
  }
}

void dequantize_numbers(const uint8_t* q, DType dtype, size_t count, const Affine& affine, float* x) {
  if (dtype == DType::kQInt8) {
    static const auto row = FLAMBEAU_PICK(dequantize_signed);
    return row(reinterpret_cast<const int8_t*>(q), affine.scale, affine.zero_point, x, count);
  }
  if (dtype == DType::kQUInt8) {
    static const auto row = FLAMBEAU_PICK(dequantize_unsigned);
    return row(q, affine.scale, affine.zero_point, x, count);
  }
  for (size_t i = 0; i < count; ++i) {
    int32_t integer = 0;
    std::memcpy(&integer, q + 4 * i, 4);
    const auto difference =
        static_cast<int32_t>(static_cast<uint32_t>(integer) - static_cast<uint32_t>(affine.zero_point));
    x[i] = affine.scale * static_cast<float>(difference);
  }
}

Tensor packed_as(Context& context, const Tensor& tensor, const Tensor& like) {
  return call(context, "aten::contiguous", tensor, suggested_format(info_of(like)));
}

Tensor fresh_quantized(Context& context, const Info<Size>& info, DType dtype, const Quantizer& quantizer) {
  Info<Size> wanted = info;
  wanted.dtype = dtype;
  wanted.offset = 0;
  return Tensor::quantized(context.allocate(wanted), quantizer);
}

Tensor quantize(Context& context, const Tensor& real, DType dtype, const Quantizer& quantizer) {
  if (real.dtype() != DType::kFloat32)
    fail_quantizer(fmt::format("only float32 tensors are quantized, not {}", real.summary()));
  if (lacks_elements(real)) return quantized_in_program(context, real, dtype, quantizer);
  const bool needs_rows = quantizer.is_per_channel() || dtype_info(dtype).per_byte > 1;
  const Tensor from = needs_rows ? call(context, "aten::contiguous", real) : packed_as(context, real, real);
  Tensor out = fresh_quantized(context, info_of(from), dtype, quantizer);
  if (out.element_count() == 0 || out.is_meta()) return out;
  uint8_t* const q = out.mutable_data();
  if (quantizer.is_per_channel()) {
    quantize_channels(from, quantizer, dtype, q);
    return out;
  }
  const Affine affine(quantizer);
  const auto* const x = from.data<float>();
  const auto count = static_cast<size_t>(from.element_count());
  if (needs_rows) {
    quantize_numbers(x, count, affine, dtype, q);
    return out;
  }
  const size_t size = out.element_size();
  context.pool().for_each_range(count, kQuantizedGrain, [&](size_t begin, size_t end) {
    quantize_numbers(x + begin, end - begin, affine, dtype, q + begin * size);
  });
  return out;
}

Tensor dequantized(Context& context, const Tensor& quantized) {
  if (lacks_elements(quantized)) return dequantized_in_program(context, quantized);
  const Quantizer& quantizer = quantizer_of(quantized);
  if (quantizer.is_per_channel() || dtype_info(quantized.dtype()).per_byte > 1 || quantized.is_meta())
    return dequantize(quantized);
  const Tensor from = packed_as(context, quantized, quantized);
  Info<Size> info = info_of(from);
  info.dtype = DType::kFloat32;
  info.offset = 0;
  Tensor out = context.allocate(info);
  const Affine affine(quantizer);
  const uint8_t* const q = from.data();
  auto* const x = out.mutable_data<float>();
  const size_t size = from.element_size();
  context.pool().for_each_range(
      static_cast<size_t>(from.element_count()), kQuantizedGrain, [&](size_t begin, size_t end) {
        dequantize_numbers(q + begin * size, from.dtype(), end - begin, affine, x + begin);
      });
  return out;
}

namespace {

// A table that only cuts off at two ends, in the order of the type.
struct Ends {
  uint8_t least, most;
};
std::optional<Ends> ends_of(const uint8_t* table, uint8_t flip) {
  const Ends ends{static_cast<uint8_t>(table[flip] ^ flip), static_cast<uint8_t>(table[255 ^ flip] ^ flip)};
  for (int i = 0; i < 256; ++i) {
    const auto wanted = std::clamp(static_cast<uint8_t>(i), ends.least, std::max(ends.least, ends.most));
    if ((table[i ^ flip] ^ flip) != wanted) return {};
  }
  return ends;
}

}  // namespace

Tensor mapped(Context& context, const Tensor& quantized, const Tensor& table) {
  const Tensor from = packed_as(context, quantized, quantized);
  Tensor out = fresh_quantized(context, info_of(from), table.dtype(), quantizer_of(table));
  const uint8_t* const by = table.data();
  const uint8_t* const q = from.data();
  uint8_t* const to = out.mutable_data();
  const uint8_t flip =
      quantized.dtype() == DType::kQInt8 ? 0x80 : 0;  // signed numbers in the order of unsigned ones
  const std::optional<Ends> ends = ends_of(by, flip);
  context.pool().for_each_range(static_cast<size_t>(from.element_count()), kQuantizedGrain,
                                [&](size_t begin, size_t end) {
                                  if (!ends) {
                                    for (size_t i = begin; i < end; ++i) to[i] = by[q[i]];
                                    return;
                                  }
                                  const uint8_t least = ends->least, most = ends->most;
                                  for (size_t i = begin; i < end; ++i) {
                                    const auto value = static_cast<uint8_t>(q[i] ^ flip);
                                    const uint8_t above = value > least ? value : least;
                                    to[i] = static_cast<uint8_t>((above < most ? above : most) ^ flip);
                                  }
                                });
  return out;
}

Tensor apply_to_reals(Context& context, const Tensor& quantized, const Quantizer& result,
                      const std::function<Tensor(const Tensor& real)>& function) {
  const Quantizer& quantizer = per_tensor(quantized);
  if (lacks_elements(quantized) || quantized.element_size() != 1 || quantized.element_count() <= 256)
    return quantize(context, function(dequantized(context, quantized)), quantized.dtype(), result);
  const Tensor all = context.allocate(DType::kUInt8, Dims{256});
  for (int i = 0; i < 256; ++i) all.mutable_data()[i] = static_cast<uint8_t>(i);
  const Tensor reals = dequantized(context, quantized_over(all, quantized.dtype(), quantizer));
  return mapped(context, quantized, quantize(context, function(reals), quantized.dtype(), result));
}

QuantizationParameters choose_parameters(float least, float most, int64_t range_least, int64_t range_most) {
  if (std::isnan(least) || std::isnan(most) || least > most)
    fail_quantizer(fmt::format("no scale fits numbers from {} to {}", least, most));
  least = std::min(least, 0.0F);
  most = std::max(most, 0.0F);
  const auto low = static_cast<double>(range_least), high = static_cast<double>(range_most);
  double scale = (static_cast<double>(most) - static_cast<double>(least)) / (high - low);
  constexpr float kSmallest = 6.1e-5F;
  if (static_cast<float>(scale) == 0 || std::isinf(1.0F / static_cast<float>(scale))) scale = 0.1;
  if (scale < static_cast<double>(kSmallest)) {
    const auto before = static_cast<float>(scale);
    scale = static_cast<double>(kSmallest);
    if (least == 0) {
      most = static_cast<float>(static_cast<double>(kSmallest) * (high - low));
    } else if (most == 0) {
      least = static_cast<float>(-static_cast<double>(kSmallest) * (high - low));
    } else {
      const float grown = kSmallest / before;
      least *= grown;
      most *= grown;
    }
  }
  // Of the two ends, the one that is met more closely says where zero lies.
  const double from_least = low - static_cast<double>(least) / scale;
  const double from_most = high - static_cast<double>(most) / scale;
  const double least_error = std::abs(low) + std::abs(static_cast<double>(least) / scale);
  const double most_error = std::abs(high) + std::abs(static_cast<double>(most) / scale);
  const double zero = least_error < most_error ? from_least : from_most;
  const double nudged = std::clamp(std::nearbyint(zero), low, high);
  return {scale, static_cast<int64_t>(nudged)};
}

std::pair<float, float> extremes_of(Context& context, const Tensor& real) {
  if (real.element_count() == 0) return {0.0F, 0.0F};
  const auto results = call_named(context, "aten::aminmax", std::vector<Value>{real});
  return {static_cast<float>(item(results.at(0).tensor()).to_double()),
          static_cast<float>(item(results.at(1).tensor()).to_double())};
}

template <typename T>
std::vector<T> numbers_of(const Tensor& tensor) {
  constexpr DType kType = std::is_same_v<T, float>    ? DType::kFloat32
                          : std::is_same_v<T, double> ? DType::kFloat64
                                                      : DType::kInt64;
  const Tensor packed = convert(tensor, kType).to_contiguous();
  std::vector<T> numbers(static_cast<size_t>(packed.element_count()));
  if (!numbers.empty())
    std::memcpy(numbers.data(), packed.contiguous_bytes().data(), numbers.size() * sizeof(T));
  return numbers;
}
template std::vector<float> numbers_of<float>(const Tensor& tensor);
template std::vector<double> numbers_of<double>(const Tensor& tensor);
template std::vector<int64_t> numbers_of<int64_t>(const Tensor& tensor);

}  // namespace flambeau::ops
