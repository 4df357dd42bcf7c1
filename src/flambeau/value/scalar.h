// A number an operator takes: PyTorch's Scalar.
#pragma once

#include <complex>
#include <cstdint>
#include <variant>

#include "flambeau/tensor/dtype.h"

namespace flambeau {

class Scalar {
 public:
  Scalar() = default;
  Scalar(int64_t value) : data_(value) {}       // NOLINT(google-explicit-constructor): a number is one
  Scalar(int value) : data_(int64_t{value}) {}  // NOLINT
  Scalar(double value) : data_(value) {}        // NOLINT
  Scalar(bool value) : data_(value) {}          // NOLINT
  Scalar(std::complex<double> value) : data_(value) {}  // NOLINT

  bool is_int() const { return std::holds_alternative<int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_complex() const { return std::holds_alternative<std::complex<double>>(data_); }
  // The type of a tensor made of it: int64, float64, bool or complex128.
  DType dtype() const;

  // As static_cast does it; a complex number gives its real part.
  double to_double() const;
  // A float is cut; one that no int64 holds gives the smallest int64, as on x86.
  int64_t to_int() const;
  bool to_bool() const;
  std::complex<double> to_complex() const;

  bool operator==(const Scalar&) const = default;

 private:
  std::variant<int64_t, double, bool, std::complex<double>> data_ = int64_t{0};
};

}  // namespace flambeau
