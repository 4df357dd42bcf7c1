// From a DType to the C++ type of its elements, for templates over all plain numbers.
#pragma once

#include <type_traits>

#include "flambeau/tensor/dtype.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau {

// A stored bool: a byte that a file may have filled with any value.
struct BoolByte {
  uint8_t bits;
};

template <typename T>
constexpr bool kIsSmallFloat = requires(T value) { value.to_float(); };

// Calls body(T{}) with the C++ type of a dtype that is neither complex, quantized, packed nor bits;
// gives `otherwise` for those.
template <typename Result, typename Body>
Result with_element_type(DType dtype, Result otherwise, Body&& body) {
  switch (dtype) {
    case DType::kUInt8:
      return body(uint8_t{});
    case DType::kInt8:
      return body(int8_t{});
    case DType::kInt16:
      return body(int16_t{});
    case DType::kInt32:
      return body(int32_t{});
    case DType::kInt64:
      return body(int64_t{});
    case DType::kUInt16:
      return body(uint16_t{});
    case DType::kUInt32:
      return body(uint32_t{});
    case DType::kUInt64:
      return body(uint64_t{});
    case DType::kBool:
      return body(BoolByte{});
    case DType::kFloat16:
      return body(Float16{});
    case DType::kBFloat16:
      return body(BFloat16{});
    case DType::kFloat32:
      return body(float{});
    case DType::kFloat64:
      return body(double{});
    case DType::kFloat8E4M3FN:
      return body(Float8E4M3FN{});
    case DType::kFloat8E5M2:
      return body(Float8E5M2{});
    case DType::kFloat8E4M3FNUZ:
      return body(Float8E4M3FNUZ{});
    case DType::kFloat8E5M2FNUZ:
      return body(Float8E5M2FNUZ{});
    case DType::kFloat8E8M0FNU:
      return body(Float8E8M0FNU{});
    default:
      return otherwise;
  }
}

}  // namespace flambeau
