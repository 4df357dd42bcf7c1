// Numbers: sums, products, quotients, bits.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/base/wrapping.h"
#include "flambeau/interpreter/builtins/numbers.h"

namespace flambeau::interpreter {

Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex divided(Complex a, Complex b) {
  const double c = b.real(), d = b.imag();
  if (std::fabs(c) >= std::fabs(d)) {
    if (c == 0 && d == 0) return {a.real() / std::fabs(c), a.imag() / std::fabs(d)};
    const double ratio = d / c, scale = 1.0 / (c + d * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const double ratio = c / d, scale = 1.0 / (d + c * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

void fail_zero_division() { throw Error(ErrorCode::kInvalidArgument, "division by 0"); }

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0) fail_zero_division();
  if (b == -1) {
    if (a == INT64_MIN) throw Error(ErrorCode::kInvalidArgument, "the quotient is beyond an int of 64 bits");
    return -a;
  }
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == 0) fail_zero_division();
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

namespace {

struct Add {
  template <typename A, typename B>
  static auto of(A a, B b) {
    if constexpr (std::is_same_v<A, int64_t> && std::is_same_v<B, int64_t>)
      return wrapping_add(a, b);
    else if constexpr (kIsComplex<A> && !kIsComplex<B>)
      return a + static_cast<double>(b);
    else if constexpr (kIsComplex<B> && !kIsComplex<A>)
      return static_cast<double>(a) + b;
    else if constexpr (kIsComplex<A>)
      return a + b;
    else
      return static_cast<double>(a) + static_cast<double>(b);
  }
};
struct Subtract {
  template <typename A, typename B>
  static auto of(A a, B b) {
    if constexpr (std::is_same_v<A, int64_t> && std::is_same_v<B, int64_t>)
      return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else if constexpr (kIsComplex<A> && !kIsComplex<B>)
      return a - static_cast<double>(b);
    // Zero minus an imaginary part, not its opposite: the sign of zero tells.
    else if constexpr (kIsComplex<B> && !kIsComplex<A>)
      return Complex(static_cast<double>(a) - b.real(), 0.0 - b.imag());
    else if constexpr (kIsComplex<A>)
      return a - b;
    else
      return static_cast<double>(a) - static_cast<double>(b);
  }
};
struct Multiply {
  template <typename A, typename B>
  static auto of(A a, B b) {
    if constexpr (std::is_same_v<A, int64_t> && std::is_same_v<B, int64_t>)
      return wrapping_multiply(a, b);
    else if constexpr (kIsComplex<A> && !kIsComplex<B>)
      return Complex(a.real() * static_cast<double>(b), a.imag() * static_cast<double>(b));
    else if constexpr (kIsComplex<B> && !kIsComplex<A>)
      return Complex(static_cast<double>(a) * b.real(), static_cast<double>(a) * b.imag());
    else if constexpr (kIsComplex<A>)
      return times(a, b);
    else
      return static_cast<double>(a) * static_cast<double>(b);
  }
};
struct FloorDivide {
  static int64_t of(int64_t a, int64_t b) { return floor_divide(a, b); }
  static double of(double a, double b) { return std::floor(a / b); }
};
struct Remainder {
  static int64_t of(int64_t a, int64_t b) { return floor_remainder(a, b); }
  static double of(double a, double b) { return std::fmod(b + std::fmod(a, b), b); }
};
struct Minimum {
  template <typename T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};

// Ints stay ints; an int with a float is a float.
template <typename Op>
void define_real(const Definer& define, const std::string& name) {
  define(name + ".int", [](int64_t a, int64_t b) { return Op::of(a, b); });
  define(name + ".float", [](double a, double b) { return Op::of(a, b); });
  define(name + ".int_float", [](int64_t a, double b) { return Op::of(static_cast<double>(a), b); });
  define(name + ".float_int", [](double a, int64_t b) { return Op::of(a, static_cast<double>(b)); });
  define(name, [](const IValue& a, const IValue& b) {
    if (a.is(IValue::Tag::kFloat) || b.is(IValue::Tag::kFloat))
      return IValue(Op::of(float_of(a), float_of(b)));
    return IValue(Op::of(a.as_int(), b.as_int()));
  });
}

template <typename Op>
void define_complex(const Definer& define, const std::string& name) {
  define(name + ".int", [](int64_t a, int64_t b) { return Op::of(a, b); });
  define(name + ".float", [](double a, double b) { return Op::of(a, b); });
  define(name + ".complex", [](Complex a, Complex b) { return Op::of(a, b); });
  define(name + ".int_float", [](int64_t a, double b) { return Op::of(a, b); });
  define(name + ".float_int", [](double a, int64_t b) { return Op::of(a, b); });
  define(name + ".int_complex", [](int64_t a, Complex b) { return Op::of(a, b); });
  define(name + ".complex_int", [](Complex a, int64_t b) { return Op::of(a, b); });
  define(name + ".float_complex", [](double a, Complex b) { return Op::of(a, b); });
  define(name + ".complex_float", [](Complex a, double b) { return Op::of(a, b); });
  define(name, [](const IValue& a, const IValue& b) {
    return with_number(a,
                       [&](auto x) { return with_number(b, [&](auto y) { return IValue(Op::of(x, y)); }); });
  });
}

double power(double base, double exponent) {
  if (base == 0 && exponent < 0)
    throw Error(ErrorCode::kInvalidArgument, "0.0 cannot be raised to a negative power");
  return std::pow(base, exponent);
}

void define_quotients(const Definer& define) {
  define("aten::div.int",
         [](int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); });
  define("aten::div.float", [](double a, double b) { return a / b; });
  define("aten::div.complex", [](Complex a, Complex b) { return divided(a, b); });
  define("aten::div", [](const IValue& a, const IValue& b) { return float_of(a) / float_of(b); });
  define_real<FloorDivide>(define, "aten::floordiv");
  define_real<Remainder>(define, "aten::remainder");
  define("aten::__round_to_zero_floordiv.int", [](int64_t a, int64_t b) {
    if (b == 0) fail_zero_division();
    if (b == -1) return floor_divide(a, b);
    return a / b;
  });
  define("aten::divmod.int", [](int64_t a, int64_t b) {
    if (b == 0)
      throw Error(ErrorCode::kInvalidArgument, "ZeroDivisionError: integer division or modulo by zero");
    return std::tuple(floor_divide(a, b), floor_remainder(a, b));
  });
  static constexpr auto check = [](double divisor) {
    if (divisor == 0) throw Error(ErrorCode::kInvalidArgument, "ZeroDivisionError: float divmod()");
  };
  define("aten::divmod.float", [](double a, double b) {
    check(b);
    double rest = std::fmod(a, b);
    if (rest != 0 && (a < 0) != (b < 0)) rest += b;
    return std::tuple((a - rest) / b, rest);
  });
  static constexpr auto mixed = [](double a, double b) {
    check(b);
    const double quotient = std::floor(a / b);
    return std::tuple(quotient, a - quotient * b);
  };
  define("aten::divmod.int_float", [](int64_t a, double b) { return mixed(static_cast<double>(a), b); });
  define("aten::divmod.float_int", [](double a, int64_t b) { return mixed(a, static_cast<double>(b)); });
}

void define_powers(const Definer& define) {
  define("aten::pow.int",
         [](int64_t a, int64_t b) { return power(static_cast<double>(a), static_cast<double>(b)); });
  define("aten::pow.float", [](double a, double b) { return power(a, b); });
  define("aten::pow.int_float", [](int64_t a, double b) { return power(static_cast<double>(a), b); });
  define("aten::pow.float_int", [](double a, int64_t b) { return power(a, static_cast<double>(b)); });
  define("aten::pow.complex", [](Complex a, Complex b) { return std::pow(a, b); });
  define("aten::pow.complex_float", [](Complex a, double b) { return std::pow(a, b); });
  define("aten::pow.float_complex", [](double a, Complex b) { return std::pow(a, b); });
  define("aten::pow.Scalar_Scalar",
         [](const IValue& a, const IValue& b) { return std::pow(float_of(a), float_of(b)); });
  define("aten::pow.int_to_int", [](int64_t a, int64_t b) {
    return static_cast<int64_t>(power(static_cast<double>(a), static_cast<double>(b)));
  });
}

// x86 looks at six bits of the distance.
int64_t shifted_left(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) << (static_cast<uint64_t>(b) & 63));
}

int64_t greatest_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = b == -1 ? 0 : a % b;
    a = b;
    b = rest;
  }
  return a == INT64_MIN ? a : std::abs(a);
}

int64_t factorial(int64_t wide) {
  const auto n = static_cast<int32_t>(wide);
  if (n < 0) throw Error(ErrorCode::kInvalidArgument, "factorial() not defined for negative values");
  if (n > 66) return 0;  // a multiple of 2^64
  int64_t product = 1;
  for (int32_t i = 2; i <= n; ++i) product = wrapping_multiply<int64_t>(product, i);
  return product;
}

void define_bits(const Definer& define) {
  define("aten::__and__.int", [](int64_t a, int64_t b) { return a & b; });
  define("aten::__or__.int", [](int64_t a, int64_t b) { return a | b; });
  define("aten::__xor__.int", [](int64_t a, int64_t b) { return a ^ b; });
  define("aten::__lshift__.int", shifted_left);
  define("aten::__rshift__.int", [](int64_t a, int64_t b) { return a >> (static_cast<uint64_t>(b) & 63); });
  define("aten::__and__.bool", [](bool a, bool b) { return a && b; });
  define("aten::__or__.bool", [](bool a, bool b) { return a || b; });
  define("aten::__xor__.bool", [](bool a, bool b) { return a != b; });
  define("aten::__not__", [](bool a) { return !a; });
  define("aten::gcd.int", greatest_divisor);
  define("aten::factorial.int", factorial);
}

void define_ranges(const Definer& define) {
  define("aten::__range_length", [](int64_t low, int64_t high, int64_t step) {
    if (step == 0) throw Error(ErrorCode::kInvalidArgument, "range() arg 3 must not be zero");
    const auto distance = [](int64_t from, int64_t to) {
      return static_cast<uint64_t>(to) - static_cast<uint64_t>(from) - 1;
    };
    if (step > 0 && low < high)
      return static_cast<int64_t>(1 + distance(low, high) / static_cast<uint64_t>(step));
    if (step < 0 && low > high)
      return static_cast<int64_t>(1 + distance(high, low) / (0 - static_cast<uint64_t>(step)));
    return int64_t{0};
  });
  define("aten::__derive_index", [](int64_t index, int64_t start, int64_t step) {
    return wrapping_add(start, wrapping_multiply(index, step));
  });
}

}  // namespace

void define_arithmetic(Builtins& builtins) {
  const Definer define(builtins);
  define_complex<Add>(define, "aten::add");
  define_complex<Subtract>(define, "aten::sub");
  define_complex<Multiply>(define, "aten::mul");
  define_real<Minimum>(define, "prim::min");
  define_real<Maximum>(define, "prim::max");
  define_quotients(define);
  define_powers(define);
  define_bits(define);
  define_ranges(define);
}

}  // namespace flambeau::interpreter
