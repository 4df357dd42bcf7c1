// The element types of PyTorch's files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace flambeau {

// The numbers are PyTorch's own (c10::ScalarType): C++ pickles and TorchScript store them.
enum class DType : uint8_t {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kComplex32 = 8,
  kComplex64 = 9,
  kComplex128 = 10,
  kBool = 11,
  kQInt8 = 12,
  kQUInt8 = 13,
  kQInt32 = 14,
  kBFloat16 = 15,
  kQUInt4x2 = 16,
  kQUInt2x4 = 17,
  kBits1x8 = 18,
  kBits2x4 = 19,
  kBits4x2 = 20,
  kBits8 = 21,
  kBits16 = 22,
  kFloat8E5M2 = 23,
  kFloat8E4M3FN = 24,
  kFloat8E5M2FNUZ = 25,
  kFloat8E4M3FNUZ = 26,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
  kFloat8E8M0FNU = 44,
  kFloat4E2M1FNx2 = 45,
};

// Bytes of one element of storage. The packed types (quint4x2, quint2x4, float4_e2m1fn_x2) count their
// byte; DTypeInfo::per_byte says how many values it holds.
struct DTypeInfo {
  DType dtype;
  std::string_view name;     // PyTorch's name without "torch.": "float32"
  std::string_view storage;  // the legacy storage class: "FloatStorage"; empty when there is none
  uint8_t size;
  uint8_t word;  // the unit that byte order swaps: 4 for complex64
  bool is_floating;
  bool is_complex;
  bool is_quantized;
  bool is_signed;
  uint8_t per_byte = 1;
};

// Every supported type, in PyTorch's numeric order.
std::span<const DTypeInfo> all_dtypes();

const DTypeInfo& dtype_info(DType dtype);
inline size_t dtype_size(DType dtype) { return dtype_info(dtype).size; }
inline std::string_view dtype_name(DType dtype) { return dtype_info(dtype).name; }

// "float32", "torch.float32" and PyTorch's aliases ("half", "long", "cfloat"); nothing when unknown.
std::optional<DType> dtype_from_name(std::string_view name);
// "FloatStorage"; nothing when unknown.
std::optional<DType> dtype_from_storage(std::string_view storage_class);
// PyTorch's number; nothing when unknown.
std::optional<DType> dtype_from_number(int64_t number);

// "float16, float32, ...": for error messages.
std::string_view dtype_names();

}  // namespace flambeau
