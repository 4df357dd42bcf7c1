#include "flambeau/tensor/elements/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/hot_loops.h"
#include "flambeau/tensor/elements/strided_rows.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau {
namespace {

// Below this many elements a second thread costs more than it brings.
constexpr size_t kGrain = size_t{1} << 16;

using PackedLoop = void (*)(const uint8_t* from, uint8_t* to, size_t count);

// The loops that need no wide array in between, because one side is the wide type itself.
PackedLoop packed_loop(DType from, DType to) {
  if (from == DType::kFloat16 && to == DType::kFloat32) return convert_half_to_float;
  if (from == DType::kFloat32 && to == DType::kFloat16) return convert_float_to_half;
  if (from == DType::kBFloat16 && to == DType::kFloat32) return convert_bfloat16_to_float;
  if (from == DType::kFloat32 && to == DType::kBFloat16) return convert_float_to_bfloat16;
  if (from == DType::kFloat64 && to == DType::kFloat32) return convert_double_to_float;
  return nullptr;
}

// One part (the only one, the real or the imaginary one) of every element of one tensor, to one part of
// every element of another.
struct Part {
  DType from;
  DType to;
  size_t from_at;    // bytes into the element
  size_t from_size;  // of the whole element
  size_t to_at;
  size_t to_size;
};

// The NaN of these types is a constant in PyTorch, whose conversion to an integer its compiler worked out
// in advance, as 0; other NaNs meet the processor, which gives the lowest number.
bool nan_becomes_zero(DType from, DType to) {
  const bool is_constant =
      from == DType::kFloat8E4M3FNUZ || from == DType::kFloat8E5M2FNUZ || from == DType::kFloat8E8M0FNU;
  const DTypeInfo& info = dtype_info(to);
  return is_constant && !info.is_floating && to != DType::kBool;
}
void replace_nans(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = std::isnan(values[i]) ? 0.0F : values[i];
}

void convert_part(const Part& part, const StridedRows& rows, ByteSpan from, MutableByteSpan to,
                  ThreadPool* pool) {
  const LoadRow load = load_row(part.from);
  const StoreRow store = store_row(wide_kind(part.from), part.to);
  const bool is_whole =
      part.from_size == dtype_size(part.from) && part.to_size == dtype_size(part.to);  // not complex
  const bool zero_nans = nan_becomes_zero(part.from, part.to);
  const PackedLoop packed = is_whole ? packed_loop(part.from, part.to) : nullptr;
  const auto range = [&](size_t begin, size_t end) {
    alignas(64) uint8_t wide[kWideBlock * 8];
    rows.for_each(static_cast<int64_t>(begin), static_cast<int64_t>(end),
                  [&](int64_t at, int64_t stride, int64_t count, int64_t index) {
                    const uint8_t* source = from.data() + static_cast<size_t>(at) * part.from_size;
                    uint8_t* target = to.data() + static_cast<size_t>(index) * part.to_size;
                    auto left = static_cast<size_t>(count);
                    if (packed != nullptr && stride == 1) return packed(source, target, left);
                    const ptrdiff_t step = stride * static_cast<ptrdiff_t>(part.from_size);
                    while (left > 0) {
                      const size_t block = std::min(left, kWideBlock);
                      load(source + part.from_at, step, block, wide);
                      if (zero_nans) replace_nans(reinterpret_cast<float*>(wide), block);
                      store(wide, block, target + part.to_at, static_cast<ptrdiff_t>(part.to_size));
                      left -= block;
                      if (left == 0) break;
                      source += static_cast<ptrdiff_t>(block) * step;
                      target += block * part.to_size;
                    }
                  });
  };
  const auto count = static_cast<size_t>(rows.count());
  if (pool != nullptr && count > kGrain) {
    pool->for_each_range(count, kGrain, range);
  } else {
    range(0, count);
  }
}

[[noreturn]] void refuse(const Tensor& tensor, DType to) {
  const DTypeInfo& from = dtype_info(tensor.dtype());
  std::string remedy = "keep it as it is";
  if (tensor.layout() != Layout::kStrided) {
    remedy = "convert the values of the sparse tensor, or make it dense first";
  } else if (from.is_quantized) {
    remedy = "call dequantize() first";
  } else if (dtype_info(to).is_quantized) {
    remedy = "choose a plain type; quantizing needs scales and zero points";
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} cannot be converted to {}", tensor.summary(), dtype_name(to)), remedy);
}

}  // namespace

bool can_convert(DType from, DType to) {
  return from == to || (wide_kind(from) != Wide::kNone && wide_kind(to) != Wide::kNone);
}

Tensor convert(const Tensor& tensor, DType to, ThreadPool* pool) {
  if (!tensor.defined()) throw Error(ErrorCode::kInvalidArgument, "an undefined tensor has no values");
  if (tensor.layout() != Layout::kStrided) refuse(tensor, to);
  if (tensor.dtype() == to) return tensor.to_contiguous();
  if (!can_convert(tensor.dtype(), to)) refuse(tensor, to);
  // Rearranging in tiles and then converting packed rows beats walking across the rows.
  if (!tensor.is_meta() && StridedRows(tensor.geometry()).is_turned()) {
    return convert(tensor.to_contiguous(), to, pool);
  }

  const size_t bytes = checked_mul(static_cast<size_t>(tensor.element_count()), dtype_size(to),
                                   "the size of a tensor in bytes");
  const auto storage = tensor.is_meta() ? Storage::meta(bytes) : Storage::allocate(bytes);
  Tensor result =
      Tensor::strided(to, {tensor.sizes(), contiguous_strides(tensor.sizes()), 0}, storage, tensor.device());
  const DTypeInfo& target = dtype_info(to);
  result.set_requires_grad(tensor.requires_grad() && (target.is_floating || target.is_complex));
  if (tensor.is_meta() || tensor.element_count() == 0) return result;

  const DTypeInfo& source = dtype_info(tensor.dtype());
  const StridedRows rows(tensor.geometry());
  const ByteSpan from = tensor.storage()->bytes();
  Part part{part_dtype(tensor.dtype()), part_dtype(to), 0, source.size, 0, target.size};
  // complex32 to float16 copies; through float32 a signaling NaN would become quiet.
  if (source.is_complex && part.from == DType::kFloat16 && part.to == DType::kFloat16) {
    part.from = part.to = DType::kUInt16;
  }
  convert_part(part, rows, from, storage->mutable_bytes(), pool);
  if (!source.is_complex) return result;  // a complex result has imaginary parts of zero

  part.from_at = source.word;
  if (target.is_complex) {
    part.to_at = target.word;
    convert_part(part, rows, from, storage->mutable_bytes(), pool);
  } else if (to == DType::kBool) {  // false only where both parts are zero
    std::vector<uint8_t> imaginary(bytes);
    convert_part(part, rows, from, imaginary, pool);
    const MutableByteSpan real = storage->mutable_bytes();
    for (size_t i = 0; i < bytes; ++i) real[i] |= imaginary[i];
  }
  return result;
}

}  // namespace flambeau
