// Division that rounds, and remainders: Python's and C's.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/elementwise/shared.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

namespace vector_math = kernels::vector_math;

void require_nonzero(bool is_nonzero) {
  if (!is_nonzero) throw Error(ErrorCode::kInvalidArgument, "ZeroDivisionError");
}

// The only quotient that overflows wraps; processors trap on it.
template <typename T>
constexpr bool is_minus_one(T b) {
  return std::is_signed_v<T> && b == static_cast<T>(-1);
}
template <IntegerNumber T>
T negated(T a) {
  return static_cast<T>(-static_cast<uint64_t>(a));
}

struct Quotient {
  static constexpr std::string_view kName = "div_trunc";
  static constexpr int kCost = 4;
  template <RealNumber T>
  T operator()(T a, T b) const {
    return std::trunc(a / b);
  }
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    require_nonzero(b != 0);
    return is_minus_one(b) ? negated(a) : a / b;
  }
};

// The quotient of half-precision numbers is rounded to their type before it is cut.
template <typename Half>
struct HalfQuotient {
  static constexpr std::string_view kName = "div_trunc";
  static constexpr std::string_view kBody =
      std::is_same_v<Half, BFloat16> ? "div_trunc_bfloat16" : "div_trunc_float16";
  static constexpr int kCost = 4;
  float operator()(float a, float b) const { return std::trunc(Half::from_float(a / b).to_float()); }
};

// Of floats, by a loop of vector_math.
#define FLAMBEAU_REAL_ROWS(name)                                                                          \
  static void rows(const float* a, const float* b, float* y, size_t n) { vector_math::name(a, b, y, n); } \
  static void rows(const double* a, const double* b, double* y, size_t n) { vector_math::name(a, b, y, n); }

struct FloorQuotient {
  static constexpr std::string_view kName = "div_floor";
  static constexpr int kCost = 8;
  FLAMBEAU_REAL_ROWS(floor_quotient)
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    require_nonzero(b != 0);
    if (is_minus_one(b)) return negated(a);
    const T quotient = a / b;
    return quotient - T(a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }
};

// With the divisor's sign, as Python's.
struct Remainder {
  static constexpr std::string_view kName = "remainder";
  static constexpr int kCost = 8;
  static constexpr bool kTakesBool = false;
  FLAMBEAU_REAL_ROWS(remainder)
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    require_nonzero(b != 0);
    if (is_minus_one(b)) return 0;
    const T rest = a % b;
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
  }
};

// With the dividend's sign, as C's.
struct Fmod {
  static constexpr std::string_view kName = "fmod";
  static constexpr int kCost = 8;
  static constexpr bool kTakesBool = false;
  FLAMBEAU_REAL_ROWS(fmod)
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    require_nonzero(b != 0);
    return is_minus_one(b) ? T(0) : a % b;
  }
};
#undef FLAMBEAU_REAL_ROWS

// The plain quotient of integers is a float; rounded ones keep the common type.
struct ModeType {
  template <typename N>
  static DType type(const Info<N>& self, const Info<N>& other, const std::optional<std::string_view>& mode) {
    return mode ? PromotedType::type(self, other) : PromotedFloatType::type(self, other);
  }
};
struct NumberModeType {
  static constexpr bool kCountsNumbers = true;
  template <typename N>
  static DType type(const Info<N>& self, const Scalar& other, const std::optional<std::string_view>& mode) {
    return mode ? NumberType::type(self, other) : NumberFloatType::type(self, other);
  }
};

template <typename Other>
Body rounded_quotient(const Tensor& self, const Other& other, std::optional<std::string_view> mode,
                      const Tensor& out) {
  const auto of = [&]<typename F>(const F& function) {
    return body_of(F::kName, function, out.dtype(), out, self, other);
  };
  if (!mode) return of(Div{});
  if (*mode == "trunc") {
    if (out.dtype() == DType::kBFloat16) return of(HalfQuotient<BFloat16>{});
    if (out.dtype() == DType::kFloat16) return of(HalfQuotient<Float16>{});
    return of(Quotient{});
  }
  if (*mode == "floor") return of(FloorQuotient{});
  throw Error(ErrorCode::kInvalidArgument,
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" +
                  std::string(*mode) + "'");
}
Body div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode,
              const Tensor& out) {
  return rounded_quotient(self, other, mode, out);
}
Body div_number_mode(const Tensor& self, Scalar other, std::optional<std::string_view> mode,
                     const Tensor& out) {
  return rounded_quotient(self, other, mode, out);
}

Tensor floor_divide_parts(Context& c, const Tensor& self, const Value& other) {
  return call_with(c, "aten::div.Tensor_mode", {self, other}, {{"rounding_mode", "floor"}});
}
Tensor divide_mode_parts(Context& c, const Tensor& self, const Tensor& other, const Value& mode) {
  return call_with(c, "aten::div.Tensor_mode", {self, other}, {{"rounding_mode", mode}});
}

}  // namespace

void define_division(Library& library) {
  elementwise<ModeType, div_mode>(
      library, "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor");
  elementwise<NumberModeType, div_number_mode>(
      library, "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor");
  elementwise<ModeType, div_mode>(
      library, "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")
      .composite<divide_mode_parts>();
  elementwise<NumberModeType, div_number_mode>(
      library, "aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor");
  elementwise<PromotedType, binary<FloorQuotient>>(library,
                                                   "aten::floor_divide(Tensor self, Tensor other) -> Tensor")
      .core_decomposition<floor_divide_parts>();
  elementwise<NumberType, binary_number<FloorQuotient>>(
      library, "aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor")
      .core_decomposition<floor_divide_parts>();
  elementwise<PromotedType, binary<Remainder>>(library,
                                               "aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor");
  elementwise<NumberType, binary_number<Remainder>>(
      library, "aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor");
  elementwise<NumberType, number_binary<Remainder>>(
      library, "aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
  elementwise<PromotedType, binary<Fmod>>(library, "aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor");
  elementwise<NumberType, binary_number<Fmod>>(library,
                                               "aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor");
}

}  // namespace flambeau::ops
