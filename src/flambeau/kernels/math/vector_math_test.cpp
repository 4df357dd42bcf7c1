#include "flambeau/kernels/math/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace flambeau::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Floats of every exponent and sign, the usual range in detail, and the special ones.
std::vector<float> samples() {
  std::vector<float> x = {0.0F,   -0.0F, 1.0F,  -1.0F, 88.73F, -103.9F,
                          128.0F, 3.9F,  0.64F, 20.0F, 1e-45F, 3.4e38F};
  x.push_back(std::numeric_limits<float>::infinity());
  x.push_back(-std::numeric_limits<float>::infinity());
  x.push_back(std::numeric_limits<float>::quiet_NaN());
  uint32_t bits = 0;
  for (int i = 0; i < 60011; ++i) x.push_back(std::bit_cast<float>(bits += 0x9e3779b1));
  for (int i = -40000; i <= 40000; ++i) x.push_back(static_cast<float>(i) / 2011.0F);
  return x;
}

double ulps(float found, double expected) {
  const auto rounded = static_cast<float>(expected);
  if (std::isnan(rounded)) return std::isnan(found) ? 0 : kInfinity;
  if (std::isinf(rounded) || std::isinf(found)) return rounded == found ? 0 : kInfinity;
  const float size = std::max(std::abs(rounded), std::numeric_limits<float>::min());
  const double unit =
      static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - size;
  return std::abs(found - expected) / unit;
}

using FloatLoop = void (*)(const float*, float*, size_t);
using Exact = double (*)(double);

void check(const char* name, FloatLoop loop, Exact exact, double most) {
  const std::vector<float> x = samples();
  std::vector<float> y(x.size());
  loop(x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(ulps(y[i], exact(x[i])), most) << name << "(" << x[i] << ") = " << y[i];
    if (y[i] == 0) {
      EXPECT_EQ(std::signbit(y[i]), std::signbit(exact(x[i]))) << name << "(" << x[i] << ")";
    }
  }
  std::vector<float> in_place = x;
  loop(in_place.data(), in_place.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(in_place[i]), std::bit_cast<uint32_t>(y[i]))
        << name << "(" << x[i] << ")";
  }
  for (size_t n = 0; n < 40; ++n) {  // tails
    std::vector<float> part(n + 1, -7.5F);
    loop(x.data() + 20, part.data(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_LE(ulps(part[i], y[i + 20]), 3) << name << " of " << n;
    EXPECT_EQ(part[n], -7.5F);
  }
}

#define CHECK_MATH(name, most) check(#name, vector_math::name, [](double x) { return std::name(x); }, most)

TEST(VectorMath, ExponentialsAndLogarithms) {
  CHECK_MATH(exp, 1.2);
  CHECK_MATH(exp2, 1.2);
  CHECK_MATH(expm1, 1.8);
  CHECK_MATH(log, 1.0);
  CHECK_MATH(log2, 1.0);
  CHECK_MATH(log10, 0.51);
  CHECK_MATH(log1p, 1.5);
}

TEST(VectorMath, AnglesOfAllSizes) {
  CHECK_MATH(sin, 1.6);
  CHECK_MATH(cos, 1.6);
  CHECK_MATH(tan, 3.0);
  CHECK_MATH(asin, 0.51);
  CHECK_MATH(acos, 0.51);
  CHECK_MATH(atan, 0.51);
}

TEST(VectorMath, Hyperbolic) {
  CHECK_MATH(sinh, 0.51);
  CHECK_MATH(cosh, 0.51);
  CHECK_MATH(tanh, 1.5);
  CHECK_MATH(asinh, 0.51);
  CHECK_MATH(acosh, 0.51);
  CHECK_MATH(atanh, 0.51);
}

TEST(VectorMath, ErrorFunctionAndRoots) {
  CHECK_MATH(erf, 1.4);
  CHECK_MATH(erfc, 0.52);
  CHECK_MATH(sqrt, 0.51);
  check("rsqrt", vector_math::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5);
}

// PyTorch's formulas, in whose tails digits are lost: compared with its tolerance for float32.
void check_close(const char* name, FloatLoop loop, Exact exact) {
  const std::vector<float> x = samples();
  std::vector<float> y(x.size());
  loop(x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = exact(x[i]);
    if (std::isnan(right)) {
      ASSERT_TRUE(std::isnan(y[i])) << name << "(" << x[i] << ") = " << y[i];
    } else {
      ASSERT_TRUE(y[i] == static_cast<float>(right) ||
                  std::abs(y[i] - right) <= 1e-6 + 3e-7 * std::abs(right))
          << name << "(" << x[i] << ") = " << y[i] << ", not " << right;
    }
  }
}

TEST(VectorMath, Activations) {
  check_close("sigmoid", vector_math::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_close("silu", vector_math::silu, [](double x) { return x / (1 + std::exp(-x)); });
  check_close("gelu", vector_math::gelu,
              [](double x) { return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5))); });
  check_close("gelu_tanh", vector_math::gelu_tanh, [](double x) {
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  });
  check_close("log_sigmoid", vector_math::log_sigmoid,
              [](double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); });
  check_close("mish", vector_math::mish,
              [](double x) { return x * std::tanh(x > 30 ? x : std::log1p(std::exp(x))); });
}

TEST(VectorMath, SoftplusIsLinearPastItsThreshold) {
  const std::vector<float> x = {-100.0F, -1.0F, 0.0F, 1.0F, 9.9F, 10.1F, 500.0F};
  std::vector<float> y(x.size());
  vector_math::softplus(x.data(), y.data(), x.size(), 2.0, 20.0);
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = x[i] * 2 > 20 ? x[i] : std::log1p(std::exp(2.0 * x[i])) / 2;
    EXPECT_LE(ulps(y[i], right), 0.51) << x[i];
  }
  const std::vector<double> wide(x.begin(), x.end());
  std::vector<double> result(x.size());
  vector_math::softplus(wide.data(), result.data(), x.size(), 0.5, 20.0);
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = wide[i] * 0.5 > 20 ? wide[i] : std::log1p(std::exp(0.5 * wide[i])) / 0.5;
    EXPECT_NEAR(result[i], right, 1e-15 * std::abs(right));
  }
}

TEST(VectorMath, PowersOfAllKinds) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values = {0.0F, -0.0F, 1.0F, -1.0F, inf,  -inf,  nan,    0.5F,       2.0F,
                               3.0F, -3.0F, 2.5F, -2.5F, 1e3F, 3e38F, 1e-45F, 16777217.0F};
  std::vector<float> x, e, y;
  for (const float a : values) {
    for (const float b : values) {
      x.push_back(a);
      e.push_back(b);
    }
  }
  y.resize(x.size());
  vector_math::pow(x.data(), e.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = std::pow(static_cast<double>(x[i]), static_cast<double>(e[i]));
    EXPECT_LE(ulps(y[i], right), 0.51) << x[i] << " to the " << e[i] << " is " << y[i];
    if (y[i] == 0) {
      EXPECT_EQ(std::signbit(y[i]), std::signbit(right)) << x[i] << " to the " << e[i];
    }
  }
  vector_math::hypot(x.data(), e.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_LE(ulps(y[i], std::hypot(double{x[i]}, double{e[i]})), 0.51);
  vector_math::atan2(x.data(), e.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_LE(ulps(y[i], std::atan2(double{x[i]}, double{e[i]})), 0.51);
}

// One argument after the other would give.
template <typename T>
T floor_of_quotient(T a, T b) {
  if (b == T(0)) return a / b;
  const T rest = std::fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != T(0) && (b < T(0)) != (rest < T(0))) quotient -= T(1);
  if (quotient == T(0)) return std::copysign(T(0), a / b);
  const T floor = std::floor(quotient);
  return quotient - floor > T(0.5) ? floor + T(1) : floor;
}
template <typename T>
void expect_exact_rests(std::vector<T> values) {
  for (int i = 0; i < 120; ++i) {
    const T a = std::ldexp(T(1) + T(i * 7919 % 1009) / T(1009), i * 37 % 61 - 30);
    values.insert(values.end(), {a, -a, std::nextafter(a, T(0)), T(i), T(3) * a});
  }
  std::vector<T> a, b;
  for (const T x : values) {
    for (const T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::vector<T> y(a.size());
  const auto compare = [&](const char* name, T (*exact)(T, T)) {
    for (size_t i = 0; i < a.size(); ++i) {
      const T right = exact(a[i], b[i]);
      const bool same =
          std::isnan(right) ? std::isnan(y[i]) : y[i] == right && std::signbit(y[i]) == std::signbit(right);
      ASSERT_TRUE(same) << name << "(" << a[i] << ", " << b[i] << ") = " << y[i] << ", expected " << right;
    }
  };
  vector_math::fmod(a.data(), b.data(), y.data(), y.size());
  compare("fmod", [](T x, T z) { return std::fmod(x, z); });
  vector_math::remainder(a.data(), b.data(), y.data(), y.size());
  compare("remainder", [](T x, T z) {
    const T rest = std::fmod(x, z);
    return rest != T(0) && (z < T(0)) != (rest < T(0)) ? rest + z : rest;
  });
  vector_math::floor_quotient(a.data(), b.data(), y.data(), y.size());
  compare("floor_quotient", [](T x, T z) { return floor_of_quotient(x, z); });
  y = a;  // in place
  vector_math::fmod(y.data(), b.data(), y.data(), y.size());
  compare("fmod", [](T x, T z) { return std::fmod(x, z); });
}

TEST(VectorMath, RemaindersToTheLastBit) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_exact_rests<float>({0.0F, -0.0F, inf, -inf, nan, 1e-45F, -1e-45F, 3e38F, -3e38F, 0.1F, 16777217.0F});
  expect_exact_rests<double>({0.0, -0.0, kInfinity, -kInfinity, std::nan(""), 5e-324, 1e308, -1e308, 0.1});
}

TEST(VectorMath, DoublesToThreeUlps) {
  std::vector<double> x = {0.0,    -0.0,  kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                           5e-324, 709.7, 709.9};
  for (int i = -30000; i <= 30000; ++i) x.push_back(i / 41.7);
  for (int i = -30000; i <= 30000; ++i) x.push_back(std::ldexp(1.0 + (i & 1023) / 1024.0, i / 30));
  std::vector<double> y(x.size());
  const auto compare = [&](const char* name, long double (*exact)(long double)) {
    for (size_t i = 0; i < x.size(); ++i) {
      const long double right = exact(x[i]);
      const auto rounded = static_cast<double>(right);
      if (std::isnan(rounded) || std::isinf(rounded)) {
        ASSERT_TRUE(std::isnan(rounded) ? std::isnan(y[i]) : y[i] == rounded) << name << "(" << x[i] << ")";
        continue;
      }
      const double unit = std::max(std::nextafter(std::abs(rounded), kInfinity) - std::abs(rounded), 5e-324);
      ASSERT_LE(std::abs((y[i] - right) / unit), 3.0) << name << "(" << x[i] << ") = " << y[i];
    }
  };
  vector_math::exp(x.data(), y.data(), x.size());
  compare("exp", [](long double a) { return std::exp(a); });
  vector_math::expm1(x.data(), y.data(), x.size());
  compare("expm1", [](long double a) { return std::expm1(a); });
  vector_math::log(x.data(), y.data(), x.size());
  compare("log", [](long double a) { return std::log(a); });
  vector_math::log1p(x.data(), y.data(), x.size());
  compare("log1p", [](long double a) { return std::log1p(a); });
  vector_math::tanh(x.data(), y.data(), x.size());
  compare("tanh", [](long double a) { return std::tanh(a); });
  vector_math::sin(x.data(), y.data(), x.size());
  compare("sin", [](long double a) { return std::sin(a); });
  vector_math::cos(x.data(), y.data(), x.size());
  compare("cos", [](long double a) { return std::cos(a); });
  vector_math::erf(x.data(), y.data(), x.size());
  compare("erf", [](long double a) { return std::erf(a); });
}

}  // namespace
}  // namespace flambeau::kernels
