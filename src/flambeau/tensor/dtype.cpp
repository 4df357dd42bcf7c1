#include "flambeau/tensor/dtype.h"

#include <array>

namespace flambeau {
namespace {

using enum DType;

constexpr std::array kTypes = {
    DTypeInfo{kUInt8, "uint8", "ByteStorage", 1, 1, false, false, false, false},
    DTypeInfo{kInt8, "int8", "CharStorage", 1, 1, false, false, false, true},
    DTypeInfo{kInt16, "int16", "ShortStorage", 2, 2, false, false, false, true},
    DTypeInfo{kInt32, "int32", "IntStorage", 4, 4, false, false, false, true},
    DTypeInfo{kInt64, "int64", "LongStorage", 8, 8, false, false, false, true},
    DTypeInfo{kFloat16, "float16", "HalfStorage", 2, 2, true, false, false, true},
    DTypeInfo{kFloat32, "float32", "FloatStorage", 4, 4, true, false, false, true},
    DTypeInfo{kFloat64, "float64", "DoubleStorage", 8, 8, true, false, false, true},
    DTypeInfo{kComplex32, "complex32", "", 4, 2, false, true, false, true},
    DTypeInfo{kComplex64, "complex64", "ComplexFloatStorage", 8, 4, false, true, false, true},
    DTypeInfo{kComplex128, "complex128", "ComplexDoubleStorage", 16, 8, false, true, false, true},
    DTypeInfo{kBool, "bool", "BoolStorage", 1, 1, false, false, false, false},
    DTypeInfo{kQInt8, "qint8", "QInt8Storage", 1, 1, false, false, true, true},
    DTypeInfo{kQUInt8, "quint8", "QUInt8Storage", 1, 1, false, false, true, false},
    DTypeInfo{kQInt32, "qint32", "QInt32Storage", 4, 4, false, false, true, true},
    DTypeInfo{kBFloat16, "bfloat16", "BFloat16Storage", 2, 2, true, false, false, true},
    DTypeInfo{kQUInt4x2, "quint4x2", "QUInt4x2Storage", 1, 1, false, false, true, false, 2},
    DTypeInfo{kQUInt2x4, "quint2x4", "QUInt2x4Storage", 1, 1, false, false, true, false, 4},
    DTypeInfo{kBits1x8, "bits1x8", "", 1, 1, false, false, false, false},
    DTypeInfo{kBits2x4, "bits2x4", "", 1, 1, false, false, false, false},
    DTypeInfo{kBits4x2, "bits4x2", "", 1, 1, false, false, false, false},
    DTypeInfo{kBits8, "bits8", "", 1, 1, false, false, false, false},
    DTypeInfo{kBits16, "bits16", "", 2, 2, false, false, false, false},
    DTypeInfo{kFloat8E5M2, "float8_e5m2", "", 1, 1, true, false, false, true},
    DTypeInfo{kFloat8E4M3FN, "float8_e4m3fn", "", 1, 1, true, false, false, true},
    DTypeInfo{kFloat8E5M2FNUZ, "float8_e5m2fnuz", "", 1, 1, true, false, false, true},
    DTypeInfo{kFloat8E4M3FNUZ, "float8_e4m3fnuz", "", 1, 1, true, false, false, true},
    DTypeInfo{kUInt16, "uint16", "", 2, 2, false, false, false, false},
    DTypeInfo{kUInt32, "uint32", "", 4, 4, false, false, false, false},
    DTypeInfo{kUInt64, "uint64", "", 8, 8, false, false, false, false},
    DTypeInfo{kFloat8E8M0FNU, "float8_e8m0fnu", "", 1, 1, true, false, false, false},
    DTypeInfo{kFloat4E2M1FNx2, "float4_e2m1fn_x2", "", 1, 1, true, false, false, true},
};

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr Alias kAliases[] = {
    {"half", kFloat16},    {"float", kFloat32},    {"double", kFloat64},
    {"short", kInt16},     {"int", kInt32},        {"long", kInt64},
    {"chalf", kComplex32}, {"cfloat", kComplex64}, {"cdouble", kComplex128},
};

constexpr int kMostNumber = 46;
constexpr auto kIndexByNumber = [] {
  std::array<int8_t, kMostNumber> index{};
  index.fill(-1);
  for (size_t i = 0; i < kTypes.size(); ++i)
    index[static_cast<size_t>(kTypes[i].dtype)] = static_cast<int8_t>(i);
  return index;
}();

}  // namespace

std::span<const DTypeInfo> all_dtypes() { return kTypes; }

const DTypeInfo& dtype_info(DType dtype) {
  return kTypes[static_cast<uint8_t>(kIndexByNumber[static_cast<size_t>(dtype)])];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const DTypeInfo& info : kTypes) {
    if (info.name == name) return info.dtype;
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_storage(std::string_view storage_class) {
  if (storage_class.empty()) return std::nullopt;
  for (const DTypeInfo& info : kTypes) {
    if (info.storage == storage_class) return info.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_number(int64_t number) {
  if (number < 0 || number >= kMostNumber || kIndexByNumber[static_cast<size_t>(number)] < 0)
    return std::nullopt;
  return static_cast<DType>(number);
}

std::string_view dtype_names() {
  return "uint8, int8, int16, int32, int64, uint16, uint32, uint64, bool, float16, bfloat16, float32, "
         "float64, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu, complex32, "
         "complex64, complex128";
}

}  // namespace flambeau
