// Element types as computing sees them: what to compute in for a stored type.
#pragma once

#include <complex>

#include "flambeau/tensor/dtype.h"

namespace flambeau {

// Every stored number is computed with as one of these: float16 and bfloat16 as float, complex32 as
// complex<float>, the integers and bool as int64_t (uint64_t for uint64).
enum class Compute : uint8_t { kFloat, kDouble, kInt64, kUInt64, kComplexFloat, kComplexDouble };

constexpr Compute compute_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return Compute::kDouble;
    case DType::kComplex32:
    case DType::kComplex64:
      return Compute::kComplexFloat;
    case DType::kComplex128:
      return Compute::kComplexDouble;
    case DType::kUInt64:
      return Compute::kUInt64;
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kBool:
      return Compute::kInt64;
    default:  // float32 and everything smaller
      return Compute::kFloat;
  }
}

// Is each element a number of its own? Not of the quantized, bits and packed types.
bool is_plain(DType dtype);

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<std::complex<T>> = true;

// The dtype whose elements are of that compute type: float32 for bfloat16.
DType compute_dtype(DType dtype);

}  // namespace flambeau
