// PyTorch's rules for the type of a result of several arguments.
#pragma once

#include <optional>

#include "flambeau/ops/mechanism/info.h"
#include "flambeau/value/scalar.h"

namespace flambeau::ops {

constexpr DType kDefaultFloat = DType::kFloat32;
constexpr DType kDefaultComplex = DType::kComplex64;

inline bool is_floating(DType dtype) { return dtype_info(dtype).is_floating; }
inline bool is_complex(DType dtype) { return dtype_info(dtype).is_complex; }
// Also bool.
inline bool is_integral(DType dtype) {
  return !is_floating(dtype) && !is_complex(dtype) && !dtype_info(dtype).is_quantized;
}
// complex64 for float32. The parts' type of a complex one.
DType to_complex(DType floating);
DType to_real(DType complex);

// The smallest type that holds both. Throws Error(kUnsupported) where PyTorch refuses.
DType promote(DType a, DType b);
// Whether a result of one type may be written to a tensor of another: never from complex to real, from
// floating to integral, or from anything else to bool.
bool can_cast(DType from, DType to);

// Collects arguments: tensors with dimensions decide; those without, and then Python numbers, only when they
// are of a higher category (bool, integral, floating, complex).
class ResultType {
 public:
  template <typename N>
  ResultType& add(const Info<N>& info) {
    return add(info.dtype, info.dim() == 0, info.is_wrapped_number);
  }
  ResultType& add(const Tensor& tensor) {
    return add(tensor.dtype(), tensor.dim() == 0, tensor.is_wrapped_number());
  }
  ResultType& add(const Scalar& scalar) { return add(scalar.dtype(), true, true); }
  DType get() const;

 private:
  ResultType& add(DType dtype, bool is_zero_dim, bool is_wrapped);
  std::optional<DType> with_dims_;
  std::optional<DType> zero_dim_;
  std::optional<DType> wrapped_;
};

template <typename... Arguments>
DType result_type(const Arguments&... arguments) {
  ResultType result;
  (result.add(arguments), ...);
  return result.get();
}

// float32 for integers and bool: what sin() of them gives.
inline DType int_to_float(DType dtype) { return is_integral(dtype) ? kDefaultFloat : dtype; }

}  // namespace flambeau::ops
