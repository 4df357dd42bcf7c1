// Rows of stored elements to and from the compute type, for the dense engines.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "flambeau/kernels/epilogue.h"
#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/tensor/elements/compute.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau::kernels {

// The type products are computed in. Integers are unsigned here, where wrapping around is defined; the low
// bits are those of the signed product.
template <typename T>
constexpr bool is_stored_as(DType dtype) {
  if constexpr (std::is_same_v<T, float>) return dtype == DType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return dtype == DType::kFloat64;
  if constexpr (std::is_same_v<T, uint64_t>) return dtype == DType::kInt64 || dtype == DType::kUInt64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return dtype == DType::kComplex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return dtype == DType::kComplex128;
}

// Calls body.operator()<T>() with the type that elements of `dtype` are multiplied and added in.
template <typename Body>
decltype(auto) with_product_type(DType dtype, Body&& body) {
  switch (compute_type(dtype)) {
    case Compute::kDouble:
      return body.template operator()<double>();
    case Compute::kInt64:
    case Compute::kUInt64:
      return body.template operator()<uint64_t>();
    case Compute::kComplexFloat:
      return body.template operator()<std::complex<float>>();
    case Compute::kComplexDouble:
      return body.template operator()<std::complex<double>>();
    default:
      return body.template operator()<float>();
  }
}

// Reads and writes rows of `dtype` as T, `step` elements apart.
template <typename T>
class RowAccess {
 public:
  explicit RowAccess(DType dtype);

  // True when the stored elements are T's already.
  bool same() const { return same_; }
  size_t element_size() const { return size_; }
  const uint8_t* at(const void* data, int64_t index) const {
    return static_cast<const uint8_t*>(data) + index * static_cast<int64_t>(size_);
  }
  uint8_t* at(void* data, int64_t index) const {
    return static_cast<uint8_t*>(data) + index * static_cast<int64_t>(size_);
  }
  void load(const void* data, int64_t index, int64_t step, int64_t count, T* to) const;
  void store(const T* from, int64_t count, void* data, int64_t index, int64_t step) const;
  // Stores what epilogues, which a type other than float has none of, make of the values.
  void finish(Epilogues epilogues, T* values, int64_t count, void* data, int64_t index, int64_t step) const;

 private:
  bool same_;
  size_t size_;
  LoadRow load_ = nullptr;
  StoreRow store_ = nullptr;
};

// A factor as T.
template <typename T>
T factor_as(const Factor& factor) {
  return std::visit(
      [](auto value) {
        using V = decltype(value);
        if constexpr (std::is_same_v<V, std::complex<double>>) {
          if constexpr (std::is_same_v<T, uint64_t>)
            return static_cast<T>(static_cast<int64_t>(value.real()));
          else if constexpr (std::is_arithmetic_v<T>)
            return static_cast<T>(value.real());
          else
            return T(value);
        } else if constexpr (std::is_same_v<T, uint64_t>) {
          return static_cast<T>(static_cast<int64_t>(value));
        } else if constexpr (std::is_arithmetic_v<T>) {
          return static_cast<T>(value);
        } else {
          return T(static_cast<typename T::value_type>(value));
        }
      },
      factor);
}

}  // namespace flambeau::kernels
