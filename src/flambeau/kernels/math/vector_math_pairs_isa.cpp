// Loops of vector_math over pairs of numbers: angles of points, and remainders of divisions.
#include "flambeau/kernels/math/vector_math_angles.h"
#include "flambeau/kernels/math/vector_math_loops.h"

namespace flambeau::kernels::vector_math::FLAMBEAU_ISA {
namespace {

// In double, where the textbook formula is right to the last digit of a float.
FLAMBEAU_INLINE double atan2_of(double s, double c) {
  double a = magnitude(s);
  double b = magnitude(c);
  const bool both_infinite = a == kInfD && b == kInfD;
  a = both_infinite ? 1.0 : a;
  b = both_infinite ? 1.0 : b;
  const double angle = atan_of_quotient(a, a == 0.0 && b == 0.0 ? 1.0 : b);
  return with_sign(bits_of(c) < 0 ? 3.14159265358979323846 - angle : angle, s);
}

// What fmod(a, b) leaves, to the last bit; NaN where the quotient is too large to tell, or not a number. A
// quotient that was rounded up to a whole one leaves less than nothing, which the divisor makes good.
FLAMBEAU_INLINE float quick_rest(float a, float b) {
#if defined(__FMA__)
  const float quotient = a / b;
  float rest = std::fma(-std::trunc(quotient), b, a);
  const bool is_near = magnitude(quotient) < 0x1p23F, is_finite = magnitude(b) < kInfF;
  const bool is_known = is_near & is_finite;
  const float back = with_sign(magnitude(b), a);
  rest = rest * with_sign(1.0F, a) < 0.0F ? rest + back : rest;
  return is_known ? with_sign(magnitude(rest), a) : std::numeric_limits<float>::quiet_NaN();
#else
  // The product of the whole quotient with the divisor is exact in double.
  const double x = a, y = b, quotient = x / y;
  const bool is_near = magnitude(quotient) < 0x1p28, is_finite = magnitude(b) < kInfF;
  const bool is_known = is_near & is_finite;
  const double whole = static_cast<double>(static_cast<int32_t>(is_known ? quotient : 0.0));
  double rest = x - whole * y;
  rest = rest * with_sign(1.0, x) < 0.0 ? rest + with_sign(magnitude(y), x) : rest;
  return is_known ? with_sign(static_cast<float>(magnitude(rest)), a)
                  : std::numeric_limits<float>::quiet_NaN();
#endif
}
FLAMBEAU_INLINE double quick_rest(double a, double b) {
#if defined(__FMA__)
  const double quotient = a / b;
  double rest = std::fma(-std::trunc(quotient), b, a);
  const bool is_near = magnitude(quotient) < 0x1p52, is_finite = magnitude(b) < kInfD;
  const bool is_known = is_near & is_finite;
  const double back = with_sign(magnitude(b), a);
  rest = rest * with_sign(1.0, a) < 0.0 ? rest + back : rest;
  return is_known ? with_sign(magnitude(rest), a) : std::numeric_limits<double>::quiet_NaN();
#else
  return std::fmod(a, b);
#endif
}

// y may be either argument.
template <typename T, typename Finish>
FLAMBEAU_INLINE void each_rest(const T* a, const T* b, T* y, size_t n, Finish finish) {
  constexpr size_t kBlock = 512;
  T rest[kBlock];
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t count = n - begin < kBlock ? n - begin : kBlock;
    const T* x = a + begin;
    const T* z = b + begin;
    T* to = y + begin;
    for (size_t i = 0; i < count; ++i) rest[i] = quick_rest(x[i], z[i]);
    int32_t unknown = 0;
    for (size_t i = 0; i < count; ++i) unknown |= rest[i] != rest[i] ? 1 : 0;
    for (size_t i = 0; unknown != 0 && i < count; ++i) {
      if (rest[i] != rest[i]) rest[i] = std::fmod(x[i], z[i]);
    }
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) to[i] = finish(x[i], z[i], rest[i]);
  }
}

template <typename T>
FLAMBEAU_INLINE bool is_of_other_sign(T b, T rest) {
  return (rest != T(0)) & ((b < T(0)) != (rest < T(0)));
}
template <typename T>
FLAMBEAU_INLINE T remainder_of(T /*a*/, T b, T rest) {
  return is_of_other_sign(b, rest) ? rest + b : rest;
}
// The rest is exact, so that a quotient less than a rounding error below an integer is not taken for it.
template <typename T>
FLAMBEAU_INLINE T floor_quotient_of(T a, T b, T rest) {
  const T plain = a / b;
  T quotient = (a - rest) / b;
  quotient = is_of_other_sign(b, rest) ? quotient - T(1) : quotient;
  const T floor = std::floor(quotient);
  const T near = quotient - floor > T(0.5) ? floor + T(1) : floor;
  const T whole = quotient == T(0) ? with_sign(T(0), plain) : near;
  return b == T(0) ? plain : whole;
}

}  // namespace

void atan2_float(const float* s, const float* c, float* y, size_t n) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i)
    y[i] = static_cast<float>(atan2_of(static_cast<double>(s[i]), static_cast<double>(c[i])));
}

#define FLAMBEAU_RESTS(T)                                                                  \
  void fmod_##T(const T* a, const T* b, T* y, size_t n) {                                  \
    each_rest(a, b, y, n, [](T, T, T rest) { return rest; });                              \
  }                                                                                        \
  void remainder_##T(const T* a, const T* b, T* y, size_t n) {                             \
    each_rest(a, b, y, n, [](T x, T z, T rest) { return remainder_of(x, z, rest); });      \
  }                                                                                        \
  void floor_quotient_##T(const T* a, const T* b, T* y, size_t n) {                        \
    each_rest(a, b, y, n, [](T x, T z, T rest) { return floor_quotient_of(x, z, rest); }); \
  }
FLAMBEAU_RESTS(float)
FLAMBEAU_RESTS(double)
#undef FLAMBEAU_RESTS

}  // namespace flambeau::kernels::vector_math::FLAMBEAU_ISA
