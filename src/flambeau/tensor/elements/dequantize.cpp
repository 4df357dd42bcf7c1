#include "flambeau/tensor/elements/dequantize.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau {
namespace {

template <typename T>
T load(ByteSpan bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
void store(MutableByteSpan bytes, size_t i, float value) { std::memcpy(bytes.data() + i * 4, &value, 4); }

// The i-th integer of a contiguous quantized tensor.
template <typename T>
struct Integers {
  static constexpr bool kIsPacked = false;
  ByteSpan bytes;
  int32_t operator()(size_t i) const { return load<T>(bytes, i); }
};
// The packed types fill a byte from its low bits, and run on over the ends of rows.
template <int kBits>
struct PackedIntegers {
  static constexpr bool kIsPacked = true;
  ByteSpan bytes;
  int32_t operator()(size_t i) const {
    constexpr size_t kPerByte = 8 / kBits;
    return (bytes[i / kPerByte] >> (i % kPerByte * kBits)) & ((1 << kBits) - 1);
  }
};

// Each kind of quantizer computes in types of its own, which shows in the last bit.
template <typename Source>
void per_tensor(const Source& integers, size_t count, const Quantizer& quantizer, MutableByteSpan to) {
  const auto scale = static_cast<float>(quantizer.scale);
  if (Source::kIsPacked) {
    const auto zero_point = static_cast<float>(quantizer.zero_point);
    for (size_t i = 0; i < count; ++i) store(to, i, (static_cast<float>(integers(i)) - zero_point) * scale);
    return;
  }
  const auto zero_point = static_cast<uint32_t>(quantizer.zero_point);
  for (size_t i = 0; i < count; ++i) {
    // A 32-bit difference, which wraps for extreme values of qint32.
    const auto difference = static_cast<int32_t>(static_cast<uint32_t>(integers(i)) - zero_point);
    store(to, i, scale * static_cast<float>(difference));
  }
}

template <typename Source>
void per_channel(const Source& integers, const Tensor& tensor, const Quantizer& quantizer,
                 MutableByteSpan to) {
  const auto axis = static_cast<size_t>(quantizer.axis);
  const Dims& sizes = tensor.sizes();
  const auto channels = static_cast<size_t>(sizes[axis]);
  const auto inner = static_cast<size_t>(
      std::accumulate(sizes.begin() + axis + 1, sizes.end(), int64_t{1}, std::multiplies<>()));
  const bool has_float_points = quantizer.scheme == Quantizer::Scheme::kPerChannelAffineFloatQParams;
  const Tensor scales = convert(quantizer.scales, has_float_points ? DType::kFloat32 : DType::kFloat64);
  const Tensor points = convert(quantizer.zero_points, has_float_points ? DType::kFloat32 : DType::kInt64);
  const ByteSpan scale_bytes = scales.contiguous_bytes();
  const ByteSpan point_bytes = points.contiguous_bytes();
  const auto count = static_cast<size_t>(tensor.element_count());
  for (size_t begin = 0; begin < count; begin += inner) {
    const size_t channel = begin / inner % channels;
    for (size_t i = begin; i < begin + inner; ++i) {
      const auto value = static_cast<float>(integers(i));
      if (has_float_points) {
        store(to, i, (value - load<float>(point_bytes, channel)) * load<float>(scale_bytes, channel));
      } else {
        const float shifted = value - static_cast<float>(load<int64_t>(point_bytes, channel));
        store(to, i, static_cast<float>(shifted * load<double>(scale_bytes, channel)));
      }
    }
  }
}

}  // namespace

Tensor dequantize(const Tensor& tensor) {
  if (!tensor.defined() || tensor.quantizer() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is not quantized", tensor.summary()));
  }
  if (tensor.is_meta()) {
    return Tensor::strided(DType::kFloat32, {tensor.sizes(), contiguous_strides(tensor.sizes()), 0},
                           Storage::meta(static_cast<size_t>(tensor.element_count()) * 4), tensor.device());
  }
  const Tensor packed = tensor.to_contiguous();
  Tensor result = Tensor::zeros(DType::kFloat32, tensor.sizes());
  result.set_device(tensor.device());
  if (tensor.element_count() == 0) return result;
  const ByteSpan from = packed.contiguous_bytes();
  const MutableByteSpan to = result.mutable_contiguous_bytes();
  const Quantizer& quantizer = *tensor.quantizer();
  const auto run = [&](const auto& integers) {
    if (quantizer.is_per_channel()) {
      per_channel(integers, packed, quantizer, to);
    } else {
      per_tensor(integers, static_cast<size_t>(tensor.element_count()), quantizer, to);
    }
  };
  switch (tensor.dtype()) {
    case DType::kQInt32:
      run(Integers<int32_t>{from});
      break;
    case DType::kQInt8:
      run(Integers<int8_t>{from});
      break;
    case DType::kQUInt4x2:
      run(PackedIntegers<4>{from});
      break;
    case DType::kQUInt2x4:
      run(PackedIntegers<2>{from});
      break;
    default:
      run(Integers<uint8_t>{from});
  }
  return result;
}

}  // namespace flambeau
