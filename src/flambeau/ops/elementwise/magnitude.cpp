// Signs, rounding, powers of fixed exponent, and what else keeps the type of its argument.
#include <cmath>
#include <limits>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

#define FLAMBEAU_HOT(Name, name, ...)               \
  struct Name {                                     \
    static constexpr std::string_view kName = name; \
    static constexpr Hot kHot = Hot::k##Name;       \
    __VA_ARGS__                                     \
  };

FLAMBEAU_HOT(
    Neg, "neg", static constexpr bool kTakesBool = false;
    template <typename T> T operator()(T a) const { return -a; })
FLAMBEAU_HOT(
    Abs, "abs",
    template <typename T> T operator()(std::complex<T> a)
        const { return std::abs(a); } uint64_t operator()(uint64_t a) const { return a; })
FLAMBEAU_HOT(
    Reciprocal, "reciprocal",
    template <typename T> std::complex<T> operator()(std::complex<T> a) const { return T(1) / a; })
FLAMBEAU_HOT(Sign, "sign", uint64_t operator()(uint64_t a) const { return a > 0 ? 1 : 0; })
FLAMBEAU_HOT(Floor, "floor", )
FLAMBEAU_HOT(Ceil, "ceil", )
FLAMBEAU_HOT(Trunc, "trunc", )
FLAMBEAU_HOT(Round, "round", )

// Integers are whole already.
template <typename F>
Body rounded(const Tensor& self, const Tensor& out) {
  if (self.dtype() == DType::kBool) fail_dtype(F::kName, self.dtype());
  if (is_integral(self.dtype())) return copy_body(self, out);
  return unary<F>(self, out);
}

Body neg(const Tensor& self, const Tensor& out) {
  if (self.dtype() == DType::kBool) {
    throw Error(ErrorCode::kUnsupported, "Negation, the `-` operator, on a bool tensor is not supported.",
                "if you are trying to invert a mask, use the `~` or `logical_not()` operator instead");
  }
  return unary<Neg>(self, out);
}

Body abs(const Tensor& self, const Tensor& out) {
  if (self.dtype() == DType::kBool) return copy_body(self, out);
  if (!is_complex(self.dtype())) return unary<Abs>(self, out);
  return body_of<Abs, RealOut>(Abs::kName, Abs{}, self.dtype(), out, self);
}

// Of length 1, or 0.
struct ComplexSign {
  static constexpr std::string_view kName = "sgn";
  template <typename T>
  std::complex<T> operator()(std::complex<T> a) const {
    return a == std::complex<T>(0) ? a : a / std::abs(a);
  }
};
Body sgn(const Tensor& self, const Tensor& out) {
  if (is_complex(self.dtype())) return unary<ComplexSign>(self, out);
  return unary<Sign>(self, out);
}

struct Frac {
  static constexpr std::string_view kName = "frac";
  template <RealNumber T>
  T operator()(T a) const {
    return a - std::trunc(a);
  }
};

struct RoundDecimals {
  static constexpr std::string_view kName = "round";
  static constexpr std::string_view kBody = "round_decimals";
  static constexpr int kCost = 4;
  int64_t decimals;
  template <RealNumber T>
  auto prepare() const {
    const bool is_negative = decimals < 0;
    const T scale = static_cast<T>(std::pow(10.0, std::abs(static_cast<double>(decimals))));
    return [=](T a) {
      return is_negative ? std::nearbyint(a / scale) * scale : std::nearbyint(a * scale) / scale;
    };
  }
};
Body round_decimals(const Tensor& self, Size decimals, const Tensor& out) {
  if (decimals == 0) return rounded<Round>(self, out);
  return body_of(RoundDecimals::kName, RoundDecimals{decimals}, out.dtype(), out, self);
}

struct NanToNum {
  static constexpr std::string_view kName = "nan_to_num";
  double nan;
  std::optional<double> positive;
  std::optional<double> negative;
  DType dtype;
  template <RealNumber T>
  auto prepare() const {
    const auto most = static_cast<T>(dtype == DType::kFloat16    ? 65504.0
                                     : dtype == DType::kBFloat16 ? 3.3895313892515355e38
                                                                 : std::numeric_limits<T>::max());
    return [=, n = static_cast<T>(nan), p = positive ? static_cast<T>(*positive) : most,
            m = negative ? static_cast<T>(*negative) : -most](T a) {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      return a != a ? n : (a == kInfinity ? p : (a == -kInfinity ? m : a));
    };
  }
  template <ComplexNumber T>
  auto prepare() const {
    using Part = typename T::value_type;
    const auto of_part = prepare<Part>();
    return [=](T a) { return T(of_part(a.real()), of_part(a.imag())); };
  }
};
Body nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                std::optional<double> neginf, const Tensor& out) {
  if (is_integral(self.dtype())) return copy_body(self, out);
  return body_of(NanToNum::kName, NanToNum{nan.value_or(0), posinf, neginf, to_real(self.dtype())},
                 out.dtype(), out, self);
}

struct CopySign {
  static constexpr std::string_view kName = "copysign";
  template <RealNumber T>
  T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};
struct Heaviside {
  static constexpr std::string_view kName = "heaviside";
  template <OrderedNumber T>
  T operator()(T a, T b) const {
    return a == T(0) ? b : static_cast<T>(a > T(0));
  }
};
Body heaviside(const Tensor& self, const Tensor& values, const Tensor& out) {
  if (self.dtype() != values.dtype()) {
    throw Error(ErrorCode::kUnsupported,
                "heaviside is not yet implemented for tensors with different dtypes.");
  }
  if (is_complex(self.dtype())) {
    throw Error(ErrorCode::kUnsupported, "heaviside is not yet implemented for complex tensors.");
  }
  return binary<Heaviside>(self, values, out);
}
// Also of the least number, which has no positive one.
template <IntegerNumber T>
uint64_t magnitude_of(T number) {
  const auto bits = static_cast<uint64_t>(number);
  return number < T(0) ? 0 - bits : bits;
}
struct Gcd {
  static constexpr std::string_view kName = "gcd";
  static constexpr bool kTakesBool = false;
  static constexpr int kCost = 40;
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    return static_cast<T>(std::gcd(magnitude_of(a), magnitude_of(b)));
  }
};
struct Lcm {
  static constexpr std::string_view kName = "lcm";
  static constexpr bool kTakesBool = false;
  static constexpr int kCost = 40;
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    const uint64_t divisor = std::gcd(magnitude_of(a), magnitude_of(b));
    if (divisor == 0) return 0;
    const T product = static_cast<T>(magnitude_of(a) / divisor * magnitude_of(b));
    return product < 0 ? static_cast<T>(-static_cast<uint64_t>(product)) : product;
  }
};
// Steps of the stored type: a float16 or bfloat16 has fewer numbers than the float it is computed in.
struct NextAfter {
  static constexpr std::string_view kName = "nextafter";
  static constexpr int kCost = 10;
  template <RealNumber T>
  T operator()(T a, T b) const {
    return std::nextafter(a, b);
  }
};
template <typename Half>
struct NextAfterHalf {
  static constexpr std::string_view kName = "nextafter";
  static constexpr std::string_view kBody =
      std::is_same_v<Half, BFloat16> ? "nextafter_bfloat16" : "nextafter_float16";
  static constexpr int kCost = 10;
  float operator()(float a, float b) const {
    if (a != a || b != b) return a + b;
    if (a == b) return b;
    Half next = Half::from_float(a);
    if (a == 0.0F) {
      next.bits = b > 0.0F ? 0x0001 : 0x8001;
    } else {
      next.bits = static_cast<uint16_t>((a < b) == (a > 0.0F) ? next.bits + 1 : next.bits - 1);
    }
    return next.to_float();
  }
};
Body nextafter(const Tensor& self, const Tensor& other, const Tensor& out) {
  if (out.dtype() == DType::kBFloat16) return binary<NextAfterHalf<BFloat16>>(self, other, out);
  if (out.dtype() == DType::kFloat16) return binary<NextAfterHalf<Float16>>(self, other, out);
  return binary<NextAfter>(self, other, out);
}
// The power of two has a type of its own: float32 where the exponent is an integer.
Tensor ldexp(Context& context, const Tensor& self, const Tensor& other) {
  return call(context, "aten::mul.Tensor", self, call(context, "aten::pow.Scalar", 2.0, other));
}

// ---- as other operators
Tensor frac_parts(Context& c, const Tensor& self) {
  return parts::sub(c, self, call(c, "aten::trunc", self));
}

// The bounds of the short types are left to the operator.
std::optional<Tensor> nan_to_num_parts(Context& c, const Tensor& self, std::optional<double> nan,
                                       std::optional<double> posinf, std::optional<double> neginf) {
  if (self.dtype() != DType::kFloat32 && self.dtype() != DType::kFloat64) return std::nullopt;
  const double infinity = std::numeric_limits<double>::infinity();
  const double most = self.dtype() == DType::kFloat64 ? std::numeric_limits<double>::max()
                                                      : double{std::numeric_limits<float>::max()};
  const Tensor is_nan = call(c, "aten::isnan", self);
  Tensor result = parts::where(c, is_nan, parts::scalar(c, nan.value_or(0.0), self), self);
  const Tensor is_low = call(c, "aten::eq.Scalar", self, -infinity);
  result = parts::where(c, is_low, parts::scalar(c, neginf.value_or(-most), self), result);
  const Tensor is_high = call(c, "aten::eq.Scalar", self, infinity);
  return parts::where(c, is_high, parts::scalar(c, posinf.value_or(most), self), result);
}

std::optional<Tensor> sgn_parts(Context& c, const Tensor& self) {
  return is_complex(self.dtype()) ? std::nullopt : std::optional(call(c, "aten::sign", self));
}
Tensor special_round_parts(Context& c, const Tensor& self, Size decimals) {
  return call_with(c, "aten::round.decimals", {self}, {{"decimals", decimals}});
}

}  // namespace

void define_magnitude(Library& library) {
  elementwise<SameType, neg>(library, "aten::neg(Tensor self) -> Tensor");
  elementwise<SameType, neg>(library, "aten::negative(Tensor self) -> Tensor").alias("aten::neg");
  elementwise<RealType, abs>(library, "aten::abs(Tensor self) -> Tensor");
  elementwise<RealType, abs>(library, "aten::absolute(Tensor self) -> Tensor").alias("aten::abs");
  elementwise<SameType, unary<Sign>>(library, "aten::sign(Tensor self) -> Tensor");
  elementwise<SameType, sgn>(library, "aten::sgn(Tensor self) -> Tensor").core_decomposition<sgn_parts>();
  elementwise<SameType, rounded<Floor>>(library, "aten::floor(Tensor self) -> Tensor");
  elementwise<SameType, rounded<Ceil>>(library, "aten::ceil(Tensor self) -> Tensor");
  elementwise<SameType, rounded<Trunc>>(library, "aten::trunc(Tensor self) -> Tensor");
  elementwise<SameType, rounded<Trunc>>(library, "aten::fix(Tensor self) -> Tensor").alias("aten::trunc");
  elementwise<SameType, rounded<Round>>(library, "aten::round(Tensor self) -> Tensor");
  elementwise<SameType, round_decimals>(library,
                                        "aten::round.decimals(Tensor self, *, int decimals) -> Tensor");
  elementwise<SameType, round_decimals>(library,
                                        "aten::special_round(Tensor self, *, int decimals=0) -> Tensor")
      .composite<special_round_parts>();
  elementwise<SameType, unary<Frac>>(library, "aten::frac(Tensor self) -> Tensor")
      .core_decomposition<frac_parts>();
  elementwise<FloatType, unary<Reciprocal>>(library, "aten::reciprocal(Tensor self) -> Tensor");
  elementwise<SameType, nan_to_num>(
      library,
      "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor")
      .core_decomposition<nan_to_num_parts>();
  elementwise<PromotedFloatType, binary<CopySign>>(
      library, "aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor");
  elementwise<NumberFloatType, binary_number<CopySign>>(
      library, "aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor");
  elementwise<PromotedType, heaviside>(library, "aten::heaviside(Tensor self, Tensor values) -> Tensor");
  elementwise<PromotedType, binary<Gcd>>(library, "aten::gcd(Tensor self, Tensor other) -> Tensor");
  elementwise<PromotedType, binary<Lcm>>(library, "aten::lcm(Tensor self, Tensor other) -> Tensor");
  elementwise<PromotedType, nextafter>(library, "aten::nextafter(Tensor self, Tensor other) -> Tensor");
  library.define("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor").decomposition<ldexp>();
}

}  // namespace flambeau::ops
