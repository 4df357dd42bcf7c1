// The elementary functions, one element at a time, as straight lines of arithmetic: no branches, no calls, so
// that a loop over any of them becomes vector code. For the x_isa.cpp files of this room alone: everything is
// in an anonymous namespace, because each of them is compiled for several instruction sets.
//
// Ranges are reduced with constants that have trailing zeros, so that the products are exact without a fused
// multiply-add; polynomials are near-minimax fits (Chebyshev) in the reduced range.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace flambeau::kernels {
namespace {

#define FLAMBEAU_INLINE [[gnu::always_inline]] inline

constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kInfD = std::numeric_limits<double>::infinity();

FLAMBEAU_INLINE int32_t bits_of(float x) { return std::bit_cast<int32_t>(x); }
FLAMBEAU_INLINE int64_t bits_of(double x) { return std::bit_cast<int64_t>(x); }
FLAMBEAU_INLINE float float_of(int32_t bits) { return std::bit_cast<float>(bits); }
FLAMBEAU_INLINE double double_of(int64_t bits) { return std::bit_cast<double>(bits); }

// Differences and sums of bits may leave the signed range (NaN, negative numbers): as unsigned ones they
// wrap.
template <typename T>
FLAMBEAU_INLINE T minus(T a, std::type_identity_t<T> b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

FLAMBEAU_INLINE float magnitude(float x) { return float_of(bits_of(x) & 0x7fffffff); }
FLAMBEAU_INLINE double magnitude(double x) { return double_of(bits_of(x) & 0x7fffffffffffffff); }
FLAMBEAU_INLINE float with_sign(float x, float sign) {
  return float_of(bits_of(x) | (bits_of(sign) & std::numeric_limits<int32_t>::min()));
}
FLAMBEAU_INLINE double with_sign(double x, double sign) {
  return double_of(bits_of(x) | (bits_of(sign) & std::numeric_limits<int64_t>::min()));
}

// Adding this rounds to an integer, which then lies in the low bits of the sum.
constexpr float kRoundF = 0x1.8p23F;
constexpr double kRoundD = 0x1.8p52;

// ---- exp ----

struct ReducedF {
  float n;       // x = n ln2 + r
  int32_t bits;  // n as an integer
  float r;
};
// |x| below 150.
FLAMBEAU_INLINE ReducedF reduce(float x) {
  const float shifted = x * 1.44269504F + kRoundF;
  const float n = shifted - kRoundF;
  float r = x - n * 0.693115234375F;
  r = r - n * 3.19461849e-05F;
  return {n, minus(bits_of(shifted), bits_of(kRoundF)), r};
}
// (exp(r) - 1 - r) / r^2
FLAMBEAU_INLINE float exp_tail(float r) {
  float p = 0.001392621347F;
  p = p * r + 0.008363202972F;
  p = p * r + 0.04166655444F;
  p = p * r + 0.1666657685F;
  return p * r + 0.5F;
}
FLAMBEAU_INLINE float power_of_two_f(int32_t n) {
  return float_of(static_cast<int32_t>((static_cast<uint32_t>(n) + 127) << 23));
}

// exp(x) below 1.1 ulp, subnormal results included. For a reduced argument: exp(r) 2^n.
FLAMBEAU_INLINE float scaled_exp(float r, int32_t n) {
  const float p = exp_tail(r) * (r * r) + r + 1.0F;
  const int32_t half = n >> 1;  // in two steps: 2^n itself may have no float
  return p * power_of_two_f(half) * power_of_two_f(minus(n, half));
}
FLAMBEAU_INLINE float exp_of(float x) {
  float within = x < -104.0F ? -104.0F : x;
  within = within > 89.0F ? 89.0F : within;
  const ReducedF a = reduce(within);
  const float y = scaled_exp(a.r, a.bits);
  return x != x ? x : y;
}
// The same where results below the normal range may become 0 and x is at most 88: sums with 1 and the like.
FLAMBEAU_INLINE float exp_of_normal(float x) {
  const float within = x < -87.0F ? -87.0F : x;
  const ReducedF a = reduce(within);
  const float p = exp_tail(a.r) * (a.r * a.r) + a.r + 1.0F;
  return p * power_of_two_f(a.bits);
}
FLAMBEAU_INLINE float exp2_of(float x) {
  float within = x < -151.0F ? -151.0F : x;
  within = within > 129.0F ? 129.0F : within;
  const float shifted = within + kRoundF;
  const float n = shifted - kRoundF;
  const float f = within - n;  // exact
  const float high = f * 0.693147182F;
  const float low = f * -1.904654e-9F;  // what the constant lacks
  const float y = scaled_exp(high + low, minus(bits_of(shifted), bits_of(kRoundF)));
  return x != x ? x : y;
}
FLAMBEAU_INLINE float expm1_of(float x) {
  float within = x < -20.0F ? -20.0F : x;
  within = within > 89.0F ? 89.0F : within;
  const ReducedF a = reduce(within);
  const float q = exp_tail(a.r) * (a.r * a.r) + a.r;
  const float scale = power_of_two_f(minus(a.bits, 1));  // halved: 2^128 has no float
  const float y = 2.0F * (scale * q + (scale - 0.5F));
  const float small = magnitude(x) < 1e-4F ? x * (1.0F + 0.5F * x) : y;  // keeps -0 and subnormals
  return x != x ? x : small;
}

struct ReducedD {
  int64_t bits;
  double r;
};
FLAMBEAU_INLINE ReducedD reduce(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + kRoundD;
  const double n = shifted - kRoundD;
  double r = x - n * 0x1.62e42fee00000p-1;
  r = r - n * 0x1.a39ef35793c76p-33;
  return {minus(bits_of(shifted), bits_of(kRoundD)), r};
}
FLAMBEAU_INLINE double exp_tail(double r) {
  double p = 2.091471734171637595e-9;
  p = p * r + 2.510525953844849342e-8;
  p = p * r + 2.755727357010213967e-7;
  p = p * r + 2.755725529796964439e-6;
  p = p * r + 0.00002480158732560532278;
  p = p * r + 0.0001984126987490125923;
  p = p * r + 0.001388888888888373183;
  p = p * r + 0.008333333333326112053;
  p = p * r + 0.04166666666666666977;
  p = p * r + 0.1666666666666667101;
  return p * r + 0.5;
}
FLAMBEAU_INLINE double power_of_two_d(int64_t n) {
  return double_of(static_cast<int64_t>((static_cast<uint64_t>(n) + 1023) << 52));
}
FLAMBEAU_INLINE double exp_of(double x) {
  double within = x < -746.0 ? -746.0 : x;
  within = within > 710.0 ? 710.0 : within;
  const ReducedD a = reduce(within);
  const double p = exp_tail(a.r) * (a.r * a.r) + a.r + 1.0;
  // 2^n in two steps without an arithmetic shift of 64 bits, which AVX2 has not.
  const int64_t half = static_cast<int64_t>((static_cast<uint64_t>(a.bits) + 4096) >> 1) - 2048;
  const double y = p * power_of_two_d(half) * power_of_two_d(minus(a.bits, half));
  return x != x ? x : y;
}
FLAMBEAU_INLINE double expm1_of(double x) {
  double within = x < -40.0 ? -40.0 : x;
  within = within > 710.0 ? 710.0 : within;
  const ReducedD a = reduce(within);
  const double q = exp_tail(a.r) * (a.r * a.r) + a.r;
  const double scale = power_of_two_d(minus(a.bits, 1));
  const double y = 2.0 * (scale * q + (scale - 0.5));
  const double small = magnitude(x) < 1e-8 ? x * (1.0 + 0.5 * x) : y;
  return x != x ? x : small;
}

// ---- log ----

// (log(1 + f) - f + f^2/2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)]
FLAMBEAU_INLINE float log_tail(float f) {
  float p = 0.06972518634F;
  p = p * f - 0.1148121206F;
  p = p * f + 0.1168578472F;
  p = p * f - 0.1242552336F;
  p = p * f + 0.1424900724F;
  p = p * f - 0.1666780713F;
  p = p * f + 0.2000071721F;
  p = p * f - 0.2499999693F;
  return p * f + 0.3333333117F;
}
struct SplitF {
  float k;  // x = 2^k (1 + f)
  float f;
  int32_t exponent;
};
FLAMBEAU_INLINE SplitF split(float x) {
  // The fraction is taken relative to sqrt(1/2), so that 1 + f is in [sqrt(1/2), sqrt(2)).
  const int32_t bits = minus(bits_of(x), 0x3f3504f3);
  const int32_t exponent = bits >> 23;
  const float m = float_of((bits & 0x007fffff) + 0x3f3504f3);
  return {static_cast<float>(exponent), m - 1.0F, exponent};
}
// What log says for arguments that have no logarithm, y for all others.
FLAMBEAU_INLINE float log_limits(float x, float y) {
  y = x == kInfF ? x : y;
  y = x == 0.0F ? -kInfF : y;
  y = x < 0.0F ? std::numeric_limits<float>::quiet_NaN() : y;
  return x != x ? x : y;
}
FLAMBEAU_INLINE float log_of(float x) {
  const bool tiny = x < 0x1p-126F;
  const SplitF a = split(tiny ? x * 0x1p24F : x);
  const float k = a.k - (tiny ? 24.0F : 0.0F);
  const float square = a.f * a.f;
  float y = log_tail(a.f) * (square * a.f) + k * 3.19461849e-05F;
  y = y - 0.5F * square;
  y = y + a.f;
  y = y + k * 0.693115234375F;
  return log_limits(x, y);
}
FLAMBEAU_INLINE float log2_of(float x) {
  const bool tiny = x < 0x1p-126F;
  const SplitF a = split(tiny ? x * 0x1p24F : x);
  const float k = a.k - (tiny ? 24.0F : 0.0F);
  const float square = a.f * a.f;
  // log(1 + f) as an exact head and a tail, then times log2(e), split as well.
  const float half = 0.5F * square;
  const float head = float_of(bits_of(a.f - half) & ~0xfff);
  const float tail = (a.f - head) - half + log_tail(a.f) * (square * a.f);
  constexpr float kHigh = 1.4423828125F;   // log2(e) in 12 bits
  constexpr float kLow = 0.000312228389F;  // and the rest
  float y = (head + tail) * kLow + tail * kHigh;
  y = y + head * kHigh;
  return log_limits(x, y + k);
}
FLAMBEAU_INLINE float log1p_of(float x) {
  const float u = 1.0F + x;
  // What the sum lost, exact either way.
  const float lost = x < 1.0F ? x - (u - 1.0F) : 1.0F - (u - x);
  const SplitF a = split(u);
  const float f = a.f + lost * power_of_two_f(-(a.exponent > 126 ? 126 : a.exponent));
  const float square = f * f;
  float y = log_tail(f) * (square * f) + a.k * 3.19461849e-05F;
  y = y - 0.5F * square;
  y = y + f;
  y = y + a.k * 0.693115234375F;
  y = log_limits(u, y);
  return magnitude(x) < 1e-5F ? x - 0.5F * x * x : y;
}

// (2 atanh(s) - 2 s) / s^3 in z = s^2
FLAMBEAU_INLINE double atanh_tail(double z) {
  double p = 0.1461846208379698248;
  p = p * z + 0.1533155867032332555;
  p = p * z + 0.1818289403054329677;
  p = p * z + 0.2222221106741939342;
  p = p * z + 0.2857142862638853093;
  p = p * z + 0.3999999999989859319;
  return p * z + 0.6666666666666669718;
}
struct SplitD {
  double k;
  double f;
  int64_t exponent;
};
FLAMBEAU_INLINE SplitD split(double x) {
  const int64_t bits = minus(bits_of(x), 0x3fe6a09e667f3bcd);
  // An arithmetic shift by 52 without one of 64 bits, and the integer as a double without a conversion.
  const auto exponent = static_cast<int64_t>((static_cast<uint64_t>(bits) + 0x4000000000000000) >> 52) - 1024;
  const double m = double_of((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  const double k = double_of(bits_of(kRoundD) + exponent) - kRoundD;
  return {k, m - 1.0, exponent};
}
FLAMBEAU_INLINE double log_limits(double x, double y) {
  y = x == kInfD ? x : y;
  y = x == 0.0 ? -kInfD : y;
  y = x < 0.0 ? std::numeric_limits<double>::quiet_NaN() : y;
  return x != x ? x : y;
}
// log(2^k (1 + f)), with what is known of f beyond its last digit.
FLAMBEAU_INLINE double log_of_split(double f, double beyond, double k) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double half = 0.5 * f * f;
  const double low = s * (half + atanh_tail(z) * z) + (k * 0x1.a39ef35793c76p-33 + beyond);
  return k * 0x1.62e42fee00000p-1 - ((half - low) - f);
}
FLAMBEAU_INLINE double log_of(double x) {
  const bool tiny = x < 0x1p-1022;
  const SplitD a = split(tiny ? x * 0x1p54 : x);
  return log_limits(x, log_of_split(a.f, 0.0, a.k - (tiny ? 54.0 : 0.0)));
}
FLAMBEAU_INLINE double log1p_of(double x) {
  const double u = 1.0 + x;
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const SplitD a = split(u);
  double y = log_of_split(a.f, lost / u, a.k);
  y = log_limits(u, y);
  return magnitude(x) < 1e-9 ? x - 0.5 * x * x : y;
}

// ---- tanh, erf ----

FLAMBEAU_INLINE float tanh_of(float x) {
  const float a = magnitude(x);
  const float z = x * x;
  float near = 0.002246003686F;
  near = near * z - 0.008301695361F;
  near = near * z + 0.02175570035F;
  near = near * z - 0.05395759513F;
  near = near * z + 0.1333329635F;
  near = near * z - 0.3333333312F;
  near = near * (z * a) + a;
  const float within = a > 10.0F ? 10.0F : a;
  const float far = 1.0F - 2.0F / (exp_of_normal(within + within) + 1.0F);
  return x != x ? x : with_sign(a < 0.64F ? near : far, x);
}
FLAMBEAU_INLINE double tanh_of(double x) {
  const double a = magnitude(x);
  const double within = a > 20.0 ? 20.0 : a;  // NaN stays
  const double e = expm1_of(within + within);
  return with_sign(e / (e + 2.0), x);
}

FLAMBEAU_INLINE float erf_of(float x) {
  const float a = magnitude(x);
  const float z = x * x;
  float near = 8.334718615e-5F;
  near = near * z - 0.0008134709332F;
  near = near * z + 0.005200368587F;
  near = near * z - 0.02685915147F;
  near = near * z + 0.1128369152F;
  near = near * z - 0.3761263352F;
  near = near * z + 0.1283791666F;
  near = near * x + x;
  // log(erfc(t)) / t + 1
  const float t = a > 3.95F ? 3.95F : a;
  float far = 3.046340778e-7F;
  far = far * t - 5.015459476e-6F;
  far = far * t + 1.695821248e-5F;
  far = far * t + 0.0002575912101F;
  far = far * t - 0.003618142347F;
  far = far * t + 0.02393559364F;
  far = far * t - 0.1065834855F;
  far = far * t - 0.63488615F;
  far = far * t - 0.1287231274F;
  far = 1.0F - exp_of_normal(far * t - t);
  return a < 0.925F ? near : (x != x ? x : with_sign(far, x));
}

FLAMBEAU_INLINE double erf_of(double x) {
  const double a = magnitude(x);
  const double z = x * x;
  double near = 5.9571761477489114e-11;
  near = near * z - 1.13728488567916737e-9;
  near = near * z + 1.46597752740474358e-8;
  near = near * z - 1.6350312701054695e-7;
  near = near * z + 1.6461000484121368e-6;
  near = near * z - 0.0000149255952668311816;
  near = near * z + 0.000120553311116427109;
  near = near * z - 0.000854832698083378991;
  near = near * z + 0.00522397762481801447;
  near = near * z - 0.0268661706450767932;
  near = near * z + 0.112837916709548787;
  near = near * z - 0.376126389031837481;
  near = near * z + 0.128379167095512574;
  near = near * x + x;
  // erfc(t) exp(t^2) (1 + t) is smooth in s; erf is 1 from t = 6 on.
  const double t = a > 6.0 ? 6.0 : a;
  const double s = (t - 2.5) / (t + 2.5);
  double far = -4.78990995476772271e-7;
  far = far * s - 1.84779526140208582e-6;
  far = far * s + 3.74799451079246497e-7;
  far = far * s + 0.0000101332241749234532;
  far = far * s + 6.91144920433167476e-6;
  far = far * s - 0.0000474430654239629189;
  far = far * s - 0.0000613306723239914356;
  far = far * s + 0.000251622583311187912;
  far = far * s + 0.000360123076075966973;
  far = far * s - 0.00175308139263464715;
  far = far * s - 0.000855236572364214;
  far = far * s + 0.0143835960499347937;
  far = far * s - 0.0315222584815172049;
  far = far * s + 0.0162984333222131907;
  far = far * s + 0.0763443268219239048;
  far = far * s - 0.247046748515688897;
  far = far * s + 0.737822274214002532;
  far = 1.0 - far * exp_of(-t * t) / (1.0 + t);
  return a < 1.0 ? near : (x != x ? x : with_sign(far, x));
}

// erf to an absolute 1e-7, which is all that 1 + erf shows; a quotient of polynomials with positive
// coefficients, at two thirds of the price.
FLAMBEAU_INLINE float erf_beside_one(float x) {
  const float z = x * x;
  float p = 2.068324707e-6F;
  p = p * z + 0.0002848162216F;
  p = p * z + 0.003727622445F;
  p = p * z + 0.05263499523F;
  p = p * z + 0.1894177121F;
  p = p * z + 1.12837915F;
  float q = 3.82763399e-5F;
  q = q * z + 0.001154766594F;
  q = q * z + 0.01489281345F;
  q = q * z + 0.1137158509F;
  q = q * z + 0.5011999112F;
  q = q * z + 1.0F;
  float y = x * p / q;
  y = y > 1.0F ? 1.0F : y;
  y = y < -1.0F ? -1.0F : y;
  y = x > 3.9F ? 1.0F : y;
  y = x < -3.9F ? -1.0F : y;
  return y;
}

}  // namespace
}  // namespace flambeau::kernels
