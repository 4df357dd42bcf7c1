#include "flambeau/value/scalar.h"

#include <limits>

namespace flambeau {

DType Scalar::dtype() const {
  if (is_int()) return DType::kInt64;
  if (is_float()) return DType::kFloat64;
  return is_bool() ? DType::kBool : DType::kComplex128;
}

double Scalar::to_double() const {
  if (const auto* number = std::get_if<int64_t>(&data_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&data_)) return *number;
  if (const auto* number = std::get_if<bool>(&data_)) return *number ? 1 : 0;
  return std::get<std::complex<double>>(data_).real();
}

int64_t Scalar::to_int() const {
  if (const auto* number = std::get_if<int64_t>(&data_)) return *number;
  if (const auto* number = std::get_if<bool>(&data_)) return *number ? 1 : 0;
  const double number = to_double();
  constexpr double kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

bool Scalar::to_bool() const {
  if (const auto* number = std::get_if<int64_t>(&data_)) return *number != 0;
  if (const auto* number = std::get_if<bool>(&data_)) return *number;
  return to_complex() != std::complex<double>{};
}

std::complex<double> Scalar::to_complex() const {
  if (const auto* number = std::get_if<std::complex<double>>(&data_)) return *number;
  return {to_double(), 0};
}

}  // namespace flambeau
