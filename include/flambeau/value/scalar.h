// A number an operator takes: PyTorch's Scalar. While tracing it may be a symbol, which is an integer.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <variant>

#include "flambeau/symbolic/sym_int.h"
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
  template <std::same_as<symbolic::SymInt> Number>      // nothing that a SymInt can be made of
  Scalar(const Number& value) : data_(value.literal()), symbol_(value) {}  // NOLINT

  bool is_symbol() const { return !symbol_.is_literal(); }
  const symbolic::SymInt& symbol() const { return symbol_; }
  bool is_int() const { return std::holds_alternative<int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_complex() const { return std::holds_alternative<std::complex<double>>(data_); }
  // The type of a tensor made of it: int64, float64, bool or complex128.
  DType dtype() const;

  // As static_cast does it; a complex number gives its real part. Of a symbol these throw
  // Error(kUnsupported).
  double to_double() const;
  // A float is cut; one that no int64 holds gives the smallest int64, as on x86.
  int64_t to_int() const;
  bool to_bool() const;
  std::complex<double> to_complex() const;

  bool operator==(const Scalar& other) const;

 private:
  void require_known() const {
    if (is_symbol()) [[unlikely]]
      fail_symbol();
  }
  [[noreturn, gnu::cold]] void fail_symbol() const;

  std::variant<int64_t, double, bool, std::complex<double>> data_ = int64_t{0};
  symbolic::SymInt symbol_;  // a literal unless it is one
};

}  // namespace flambeau
