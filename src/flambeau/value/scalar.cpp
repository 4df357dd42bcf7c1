#include "flambeau/value/scalar.h"

#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau {

DType Scalar::dtype() const {
  if (is_int()) return DType::kInt64;
  if (is_float()) return DType::kFloat64;
  return is_bool() ? DType::kBool : DType::kComplex128;
}

void Scalar::fail_symbol() const {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the number {} is a symbol: it is not known while tracing",
                          symbolic::to_string(symbol_.expr())),
              "give this operator a number that does not depend on sizes");
}

bool Scalar::operator==(const Scalar& other) const {
  if (is_symbol() || other.is_symbol())
    return is_symbol() && other.is_symbol() && symbol_.expr() == other.symbol_.expr();
  return data_ == other.data_;
}

double Scalar::to_double() const {
  require_known();
  if (const auto* number = std::get_if<int64_t>(&data_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&data_)) return *number;
  if (const auto* number = std::get_if<bool>(&data_)) return *number ? 1 : 0;
  return std::get<std::complex<double>>(data_).real();
}

int64_t Scalar::to_int() const {
  require_known();
  if (const auto* number = std::get_if<int64_t>(&data_)) return *number;
  if (const auto* number = std::get_if<bool>(&data_)) return *number ? 1 : 0;
  const double number = to_double();
  constexpr double kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

bool Scalar::to_bool() const {
  require_known();
  if (const auto* number = std::get_if<int64_t>(&data_)) return *number != 0;
  if (const auto* number = std::get_if<bool>(&data_)) return *number;
  return to_complex() != std::complex<double>{};
}

std::complex<double> Scalar::to_complex() const {
  if (const auto* number = std::get_if<std::complex<double>>(&data_)) return *number;
  return {to_double(), 0};
}

}  // namespace flambeau
