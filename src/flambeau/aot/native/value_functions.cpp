// The functions of PyTorch's C interface that name types and turn tensors into numbers and back.
#include <cstring>

#include "flambeau/aot/native/box.h"

namespace flambeau::aot::native {
namespace {

template <DType kType>
int32_t dtype_number() {
  return static_cast<int32_t>(kType);
}
template <int32_t kNumber>
int32_t number() {
  return kNumber;
}

template <typename T, DType kType>
int32_t item(Handle tensor, T* to) {
  return guarded("item", [&] {
    const Tensor& from = at(tensor);
    if (from.dtype() != kType || from.element_count() != 1)
      throw Error(ErrorCode::kInvalidArgument, from.summary() + " is no single number of that type");
    std::memcpy(to, from.data(), sizeof(T));
  });
}
template <typename T, DType kType>
int32_t scalar_to_tensor(T value, Handle* made) {
  return guarded("scalar_to_tensor", [&] {
    Tensor tensor = Tensor::zeros(kType, {});
    std::memcpy(tensor.mutable_data(), &value, sizeof value);
    give(made, std::move(tensor));
  });
}

#define FLAMBEAU_NUMBERS(NAME, T, TYPE)                           \
  function("aoti_torch_dtype_" #NAME, dtype_number<DType::TYPE>), \
      function("aoti_torch_item_" #NAME, item<T, DType::TYPE>),   \
      function("aoti_torch_scalar_to_tensor_" #NAME, scalar_to_tensor<T, DType::TYPE>)
#define FLAMBEAU_TYPE(NAME, TYPE) function("aoti_torch_dtype_" #NAME, dtype_number<DType::TYPE>)

const Function kValueFunctions[] = {
    FLAMBEAU_NUMBERS(float32, float, kFloat32),
    FLAMBEAU_NUMBERS(float64, double, kFloat64),
    FLAMBEAU_NUMBERS(uint8, uint8_t, kUInt8),
    FLAMBEAU_NUMBERS(uint16, uint16_t, kUInt16),
    FLAMBEAU_NUMBERS(uint32, uint32_t, kUInt32),
    FLAMBEAU_NUMBERS(uint64, uint64_t, kUInt64),
    FLAMBEAU_NUMBERS(int8, int8_t, kInt8),
    FLAMBEAU_NUMBERS(int16, int16_t, kInt16),
    FLAMBEAU_NUMBERS(int32, int32_t, kInt32),
    FLAMBEAU_NUMBERS(int64, int64_t, kInt64),
    FLAMBEAU_NUMBERS(bool, bool, kBool),
    function("aoti_torch_item_float16", item<uint16_t, DType::kFloat16>),
    function("aoti_torch_item_bfloat16", item<uint16_t, DType::kBFloat16>),
    FLAMBEAU_TYPE(float16, kFloat16),
    FLAMBEAU_TYPE(bfloat16, kBFloat16),
    FLAMBEAU_TYPE(complex32, kComplex32),
    FLAMBEAU_TYPE(complex64, kComplex64),
    FLAMBEAU_TYPE(complex128, kComplex128),
    FLAMBEAU_TYPE(float8_e5m2, kFloat8E5M2),
    FLAMBEAU_TYPE(float8_e4m3fn, kFloat8E4M3FN),
    function("aoti_torch_device_type_cpu", number<0>),
    function("aoti_torch_device_type_cuda", number<1>),
    function("aoti_torch_device_type_meta", number<14>),
    function("aoti_torch_device_type_xpu", number<12>),
    function("aoti_torch_device_type_mps", number<13>),
    function("aoti_torch_device_type_privateuse1", number<20>),
    function("aoti_torch_layout_strided", number<0>),
    function("aoti_torch_layout__mkldnn", number<3>),
    function("aoti_torch_memory_format_contiguous_format", number<0>),
    function("aoti_torch_memory_format_preserve_format", number<1>),
    function("aoti_torch_memory_format_channels_last", number<2>),
    function("aoti_torch_memory_format_channels_last_3d", number<3>),
};

}  // namespace

std::span<const Function> value_functions() { return kValueFunctions; }

}  // namespace flambeau::aot::native
