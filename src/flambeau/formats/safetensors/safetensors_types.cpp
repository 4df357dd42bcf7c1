#include "flambeau/formats/safetensors/safetensors_types.h"

namespace flambeau {
namespace {

// F4 counts single values, PyTorch's float4_e2m1fn_x2 counts pairs.
constexpr SafetensorsType kTypes[] = {
    {"BOOL", DType::kBool, 8, 0},
    {"F4", DType::kFloat4E2M1FNx2, 4, 1},
    {"F6_E2M3", std::nullopt, 6, 2},
    {"F6_E3M2", std::nullopt, 6, 3},
    {"U8", DType::kUInt8, 8, 4},
    {"I8", DType::kInt8, 8, 5},
    {"F8_E5M2", DType::kFloat8E5M2, 8, 6},
    {"F8_E4M3", DType::kFloat8E4M3FN, 8, 7},
    {"F8_E8M0", DType::kFloat8E8M0FNU, 8, 8},
    {"F8_E4M3FNUZ", DType::kFloat8E4M3FNUZ, 8, 9},
    {"F8_E5M2FNUZ", DType::kFloat8E5M2FNUZ, 8, 10},
    {"I16", DType::kInt16, 16, 11},
    {"U16", DType::kUInt16, 16, 12},
    {"F16", DType::kFloat16, 16, 13},
    {"BF16", DType::kBFloat16, 16, 14},
    {"I32", DType::kInt32, 32, 15},
    {"U32", DType::kUInt32, 32, 16},
    {"F32", DType::kFloat32, 32, 17},
    {"C64", DType::kComplex64, 64, 18},
    {"F64", DType::kFloat64, 64, 19},
    {"I64", DType::kInt64, 64, 20},
    {"U64", DType::kUInt64, 64, 21},
};

}  // namespace

const SafetensorsType* find_safetensors_type(std::string_view name) {
  for (const SafetensorsType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const SafetensorsType* find_safetensors_type(DType dtype) {
  for (const SafetensorsType& type : kTypes) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

}  // namespace flambeau
