// sin, cos and atan, as vector_math_core.h has the other functions.
#pragma once

#include "flambeau/kernels/math/vector_math_core.h"

namespace flambeau::kernels {
namespace {

// Beyond this the callers ask the standard library.
constexpr float kSinLimit = 1048576.0F;

struct AngleF {
  float r;           // in [-pi/4, pi/4]
  int32_t quadrant;  // in the two low bits
};
FLAMBEAU_INLINE AngleF reduce_angle(float x) {
  // In double: a float near a multiple of pi/2 keeps all its digits.
  const double wide = x;
  const double shifted = wide * 0.63661977236758134308 + kRoundD;
  const double n = shifted - kRoundD;
  const double r = (wide - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a626331p-34;
  return {static_cast<float>(r), static_cast<int32_t>(bits_of(shifted))};
}
FLAMBEAU_INLINE float sin_polynomial(float r) {
  const float z = r * r;
  float p = 2.724931405e-6F;
  p = p * z - 0.0001984008201F;
  p = p * z + 0.008333331866F;
  p = p * z - 0.1666666666F;
  return p * (z * r) + r;
}
FLAMBEAU_INLINE float cos_polynomial(float r) {
  const float z = r * r;
  float p = 2.454743721e-5F;
  p = p * z - 0.00138883007F;
  p = p * z + 0.04166666465F;
  const float half = 0.5F * z;
  const float head = 1.0F - half;
  return head + (p * (z * z) + ((1.0F - head) - half));  // with what the head lost
}
FLAMBEAU_INLINE float sin_or_cos(float r, int32_t quadrant) {
  const float y = (quadrant & 1) != 0 ? cos_polynomial(r) : sin_polynomial(r);
  return float_of(bits_of(y) ^ ((quadrant & 2) << 30));
}
FLAMBEAU_INLINE float sin_of(float x) {
  const AngleF a = reduce_angle(x);
  return x == 0.0F ? x : sin_or_cos(a.r, a.quadrant);
}
FLAMBEAU_INLINE float cos_of(float x) {
  const AngleF a = reduce_angle(x);
  return sin_or_cos(a.r, minus_f(a.quadrant, -1));
}

struct AngleD {
  double r;
  int64_t quadrant;
};
FLAMBEAU_INLINE AngleD reduce_angle(double x) {
  const double shifted = x * 0.63661977236758134308 + kRoundD;
  const double n = shifted - kRoundD;
  // pi/2 in three parts, of which n times the first two is exact.
  double r = x - n * 0x1.921fb54400000p+0;
  r = r - n * 0x1.0b4611a600000p-34;
  r = r - n * 0x1.3198a2e037073p-69;
  return {r, bits_of(shifted)};
}
FLAMBEAU_INLINE double sin_polynomial(double r) {
  const double z = r * r;
  double p = 1.5917848524808261e-10;
  p = p * z - 2.50511279440141876e-8;
  p = p * z + 2.75573160838163586e-6;
  p = p * z - 0.000198412698367224178;
  p = p * z + 0.00833333333333092456;
  p = p * z - 0.166666666666666646;
  return p * (z * r) + r;
}
FLAMBEAU_INLINE double cos_polynomial(double r) {
  const double z = r * r;
  double p = -1.13824567780613058e-11;
  p = p * z + 2.08761438279931325e-9;
  p = p * z - 2.75573172600088382e-7;
  p = p * z + 0.0000248015872987430693;
  p = p * z - 0.00138888888888873823;
  p = p * z + 0.0416666666666666654;
  const double half = 0.5 * z;
  const double head = 1.0 - half;
  return head + (p * (z * z) + ((1.0 - head) - half));
}
FLAMBEAU_INLINE double sin_or_cos(double r, int64_t quadrant) {
  const double y = (quadrant & 1) != 0 ? cos_polynomial(r) : sin_polynomial(r);
  return double_of(bits_of(y) ^ static_cast<int64_t>(static_cast<uint64_t>(quadrant & 2) << 62));
}
FLAMBEAU_INLINE double sin_of(double x) {
  const AngleD a = reduce_angle(x);
  return x == 0.0 ? x : sin_or_cos(a.r, a.quadrant);
}
FLAMBEAU_INLINE double cos_of(double x) {
  const AngleD a = reduce_angle(x);
  return sin_or_cos(a.r, minus_d(a.quadrant, -1));
}

// The angle whose tangent is a / b, to the last digit of a float. Neither is negative, one may be infinite.
FLAMBEAU_INLINE double atan_of_quotient(double a, double b) {
  // Into [-tan(pi/8), tan(pi/8)] by the angles 0, pi/4 and pi/2.
  const bool far = a > 2.414213562373095 * b;
  const bool middle = a > 0.41421356237309503 * b;
  const double numerator = far ? -b : (middle ? a - b : a);
  const double denominator = far ? a : (middle ? a + b : b);
  const double t = numerator / denominator;
  const double base = far ? 1.5707963267948966 : (middle ? 0.78539816339744831 : 0.0);
  const double z = t * t;
  double p = 0.032956234567646784;  // (atan(t) - t) / t^3
  p = p * z - 0.060272761005628423;
  p = p * z + 0.07604793194731718;
  p = p * z - 0.090841011578319985;
  p = p * z + 0.11110819676297231;
  p = p * z - 0.14285708109313491;
  p = p * z + 0.19999999949844742;
  p = p * z - 0.33333333333266183;
  return base + (t + t * z * p);
}

}  // namespace
}  // namespace flambeau::kernels
