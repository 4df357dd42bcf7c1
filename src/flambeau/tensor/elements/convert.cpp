#include "flambeau/tensor/elements/convert.h"

#include <fmt/format.h>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/convert_rows.h"
#include "flambeau/tensor/elements/strided_rows.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau {
namespace {

// Below this many elements a second thread costs more than it brings.
constexpr size_t kGrain = size_t{1} << 16;

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

bool can_convert(DType from, DType to) { return from == to || (is_plain(from) && is_plain(to)); }

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

  const auto from_size = static_cast<int64_t>(tensor.element_size());
  const auto to_size = static_cast<int64_t>(target.size);
  const StridedRows rows(tensor.geometry());
  const uint8_t* const from = tensor.storage()->bytes().data();
  uint8_t* const made = storage->mutable_bytes().data();
  const auto range = [&](size_t begin, size_t end) {
    rows.for_each(static_cast<int64_t>(begin), static_cast<int64_t>(end),
                  [&](int64_t at, int64_t stride, int64_t count, int64_t index) {
                    convert_row(tensor.dtype(), from + at * from_size, stride * from_size, to,
                                made + index * to_size, to_size, static_cast<size_t>(count));
                  });
  };
  const auto count = static_cast<size_t>(rows.count());
  if (pool != nullptr && count > kGrain) {
    pool->for_each_range(count, kGrain, range);
  } else {
    range(0, count);
  }
  return result;
}

}  // namespace flambeau
