// Powers.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

namespace vector_math = kernels::vector_math;

// Integers wrap. A negative exponent gives what the quotient of 1 would be cut to.
template <IntegerNumber T>
T integer_power(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? T(1) : static_cast<T>(-1);
    return 0;
  }
  auto factor = static_cast<uint64_t>(base);
  uint64_t result = 1;
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

struct Pow {
  static constexpr std::string_view kName = "pow";
  static constexpr bool kTakesBool = false;
  static constexpr int kCost = 8;
  static constexpr std::string_view kFloatCode = "return (T)pow_of(a, b);";
  static void rows(const float* x, const float* e, float* y, size_t n) { vector_math::pow(x, e, y, n); }
  static void rows(const double* x, const double* e, double* y, size_t n) { vector_math::pow(x, e, y, n); }
  template <IntegerNumber T>
  T operator()(T base, T exponent) const {
    return integer_power(base, exponent);
  }
  template <ComplexNumber T>
  T operator()(T base, T exponent) const {
    if (exponent == T(0)) return T(1);
    return std::pow(base, exponent);
  }
};

struct Square {
  static constexpr std::string_view kName = "square";
  static constexpr Hot kHot = Hot::kSquare;
  template <typename T>
  T operator()(T a) const {
    return a * a;
  }
};
struct Cube {
  static constexpr std::string_view kName = "pow";
  static constexpr std::string_view kBody = "power_3";
  static constexpr Hot kHot = Hot::kCube;
  template <ComplexNumber T>
  T operator()(T a) const {
    return a * a * a;
  }
};
struct ReciprocalPower {
  static constexpr std::string_view kName = "pow";
  static constexpr std::string_view kBody = "power_minus_1";
  static constexpr Hot kHot = Hot::kReciprocal;
  template <ComplexNumber T>
  T operator()(T a) const {
    return T(1) / a;
  }
};
struct ReciprocalSquare {
  static constexpr std::string_view kName = "pow";
  static constexpr std::string_view kBody = "power_minus_2";
  static constexpr Hot kHot = Hot::kReciprocalSquare;
  template <ComplexNumber T>
  T operator()(T a) const {
    return T(1) / (a * a);
  }
};
struct Root {
  static constexpr std::string_view kName = "pow";
  static constexpr std::string_view kBody = "power_half";
  static constexpr int kCost = 4;
  static constexpr std::string_view kCode = "return sqrt_of(a);";
  static void rows(const float* x, float* y, size_t n) { vector_math::sqrt(x, y, n); }
  static void rows(const double* x, double* y, size_t n) { vector_math::sqrt(x, y, n); }
  template <ComplexNumber T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct ReciprocalRoot {
  static constexpr std::string_view kName = "pow";
  static constexpr std::string_view kBody = "power_minus_half";
  static constexpr int kCost = 4;
  static constexpr std::string_view kCode = "return rsqrt_of(a);";
  static void rows(const float* x, float* y, size_t n) { vector_math::rsqrt(x, y, n); }
  static void rows(const double* x, double* y, size_t n) { vector_math::rsqrt(x, y, n); }
  template <ComplexNumber T>
  T operator()(T a) const {
    return T(1) / std::sqrt(a);
  }
};

Body power(const Tensor& self, const Tensor& exponent, const Tensor& out) {
  return binary<Pow>(self, exponent, out);
}

// Exponents that need no logarithm are computed as PyTorch does, which is not always what pow() gives.
Body power_of_number(const Tensor& self, Scalar exponent, const Tensor& out) {
  if (is_integral(out.dtype()) && exponent.to_int() < 0) {
    throw Error(ErrorCode::kInvalidArgument, "Integers to negative integer powers are not allowed.");
  }
  const std::complex<double> e = exponent.to_complex();
  const bool is_float = !is_integral(out.dtype());
  if (e == 0.0) return copy_body(Scalar(1), out);
  if (e == 1.0) return copy_body(self, out);
  if (e == 2.0) return unary<Square>(self, out);
  if (is_float && e == 3.0) return unary<Cube>(self, out);
  if (is_float && e == 0.5) return unary<Root>(self, out);
  if (is_float && e == -0.5) return unary<ReciprocalRoot>(self, out);
  if (is_float && e == -1.0) return unary<ReciprocalPower>(self, out);
  if (is_float && e == -2.0) return unary<ReciprocalSquare>(self, out);
  const Input inputs[] = {computed(self, out.dtype()), precise(exponent, out.dtype())};
  return body_of_inputs(Pow::kName, Pow{}, out.dtype(), out, inputs);
}
Body power_of_number_base(Scalar self, const Tensor& exponent, const Tensor& out) {
  if (self.to_complex() == 1.0) return copy_body(Scalar(1), out);
  const Input inputs[] = {precise(self, out.dtype()), computed(exponent, out.dtype())};
  return body_of_inputs(Pow::kName, Pow{}, out.dtype(), out, inputs);
}

// Bool counts as an integer.
struct SquareType {
  template <typename N>
  static DType type(const Info<N>& self) {
    return self.dtype == DType::kBool ? DType::kInt64 : self.dtype;
  }
};

// Computed and given in double precision, whatever the arguments.
struct DoubleType {
  template <typename... A>
  static DType type(const A&... arguments) {
    return is_complex(NumberType::type(arguments...)) ? DType::kComplex128 : DType::kFloat64;
  }
};

Tensor square_parts(Context& c, const Tensor& self) { return call(c, "aten::pow.Tensor_Scalar", self, 2); }

std::optional<Tensor> float_power_parts(Context& c, const Value& self, const Value& exponent) {
  for (const Value& value : {self, exponent}) {
    if (value.is_tensor() ? is_complex(value.tensor().dtype()) : value.scalar().is_complex())
      return std::nullopt;
  }
  const auto doubled = [&](const Value& value) {
    return value.is_tensor() ? Value(call(c, "aten::to.dtype", value, DType::kFloat64))
                             : Value(value.scalar().to_double());
  };
  const Value power = doubled(exponent);
  const char* const name = !self.is_tensor()      ? "aten::pow.Scalar"
                           : exponent.is_tensor() ? "aten::pow.Tensor_Tensor"
                                                  : "aten::pow.Tensor_Scalar";
  return call(c, name, doubled(self), power);
}

}  // namespace

void define_power(Library& library) {
  elementwise<PromotedType, power>(library,
                                   "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor");
  elementwise<NumberType, power_of_number>(library,
                                           "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor");
  elementwise<NumberType, power_of_number_base>(library,
                                                "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor");
  elementwise<DoubleType, power>(library,
                                 "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
      .composite<float_power_parts>();
  elementwise<DoubleType, power_of_number>(
      library, "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
      .composite<float_power_parts>();
  elementwise<DoubleType, power_of_number_base>(
      library, "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor")
      .composite<float_power_parts>();
  elementwise<SquareType, unary<Square>>(library, "aten::square(Tensor self) -> Tensor")
      .composite<square_parts>();
}

}  // namespace flambeau::ops
