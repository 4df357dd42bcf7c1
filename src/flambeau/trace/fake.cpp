#include "flambeau/trace/fake.h"

#include <algorithm>

namespace flambeau::trace {
namespace {

bool are_literal(const ShortList<SymInt>& numbers) {
  return std::ranges::all_of(numbers, [](const SymInt& number) { return number.is_literal(); });
}

Dims literals(const ShortList<SymInt>& numbers) {
  Dims plain;
  for (const SymInt& number : numbers) plain.push_back(number.literal());
  return plain;
}

}  // namespace

Tensor make_fake(const ops::Info<Size>& info) {
  Geometry geometry{info.sizes, info.strides, info.offset};
  const size_t bytes = static_cast<size_t>(storage_extent(geometry)) * dtype_size(info.dtype);
  return Tensor::strided(info.dtype, std::move(geometry), Storage::meta(bytes), info.device);
}

Tensor make_fake(const ops::Info<SymInt>& info) {
  if (are_literal(info.sizes) && are_literal(info.strides) && info.offset.is_literal()) {
    return make_fake(ops::Info<Size>{.dtype = info.dtype,
                                     .sizes = literals(info.sizes),
                                     .strides = literals(info.strides),
                                     .offset = info.offset.literal(),
                                     .device = info.device});
  }
  Tensor tensor = Tensor::symbolic(info.dtype, {info.sizes, info.strides, info.offset}, info.device);
  tensor.set_storage(Storage::meta(0), 0);
  return tensor;
}

bool has_symbols(const Value& value) {
  if (const Tensor* const tensor = value.get_if<Tensor>()) return tensor->is_traced();
  if (const TensorList* const tensors = value.get_if<TensorList>()) {
    return std::ranges::any_of(*tensors, &Tensor::is_traced);
  }
  if (const SymInt* const number = value.get_if<SymInt>()) return !number->is_literal();
  return value.is<SymIntList>();
}

bool has_symbols(std::span<const Value> values) {
  return std::ranges::any_of(values, [](const Value& value) { return has_symbols(value); });
}

}  // namespace flambeau::trace
