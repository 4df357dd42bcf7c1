#include "flambeau/kernels/math/bessel.h"

#include <math.h>  // NOLINT(modernize-deprecated-headers): j0 and its kin are POSIX's, not C++'s

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

namespace flambeau::kernels::special {
namespace {

constexpr double kPole = std::numeric_limits<double>::infinity();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Chebyshev coefficients, found from the functions themselves with 40 digits. Of sqrt(x) exp(x) K(x) by
// 4 / x - 1 for x >= 2; and with zeta = 2/3 |x|^(3/2), for |x| >= 2, by 2 zeta(2) / zeta - 1: of
// 2 sqrt(pi) x^(1/4) exp(zeta) Ai(x), and of the factors of sine and cosine in
// sqrt(pi) x^(1/4) Ai(-x) = sin(zeta + pi/4) F - cos(zeta + pi/4) G.
constexpr double kBesselK0[] = {
    1.22015154103297773,      -0.0314481013119645005,   0.00156988388573005337,  -0.000128495495816278026,
    0.0000139498137188764994, -1.83175552271911948e-6,  2.76681363944501508e-7,  -4.66048989768794767e-8,
    8.57403401741422609e-9,   -1.69753450938906152e-9,  3.57739728140032845e-10, -7.95748924447739704e-11,
    1.85594911495492655e-11,  -4.51459788337451918e-12, 1.14034058820734423e-12, -2.98009692314817835e-13,
    8.03289077506837437e-14,  -2.22751332674629636e-14, 6.34007647627664597e-15, -1.84859337792090717e-15,
    5.51205599940433336e-16,  -1.67823112575490064e-16, 5.21039177764355411e-17, -1.64758059398426328e-17};
constexpr double kBesselK1[] = {
    1.36031309524222133,       0.103923736576817238,    -0.00285781685962277939,  0.000195215518471351631,
    -0.0000193619797416608296, 2.40648494783721712e-6,  -3.50196060308781254e-7,  5.74108412545004929e-8,
    -1.0345762465678097e-8,    2.01504975519703462e-9,  -4.19035475934192558e-10, 9.21831518760531413e-11,
    -2.12996783842779102e-11,  5.13963967348234354e-12, -1.28917396094982294e-12, 3.34841966605224312e-13,
    -8.97670518201014607e-14,  2.47715442421959868e-14, -7.01983708921476885e-15, 2.03870316623986088e-15,
    -6.05704727064301782e-16,  1.83809357524304543e-16, -5.68946284919364837e-17, 1.79405104788635729e-17};
constexpr double kAiryDecay[] = {
    0.984405304917155196,    -0.0147927848501041987,   0.000732717746542671434, -0.0000612595423417824993,
    6.83476697557269029e-6,  -9.23722973540398155e-7,  1.4362253404380519e-7,   -2.48931942232209598e-8,
    4.7097934400543278e-9,   -9.58386370811273208e-10, 2.07458554836775917e-10, -4.73726733219227696e-11,
    1.13360998082242348e-11, -2.82770678231935085e-12, 7.32071209512559757e-13, -1.95997939110897221e-13,
    5.41011625706839221e-14, -1.53564668022238356e-14, 4.47234039330002478e-15, -1.33380946747566825e-15,
    4.06658204645623099e-16, -1.26558322564528899e-16, 4.0151263340158711e-17,  -1.29699721359609367e-17};
constexpr double kAirySine[] = {
    0.996789129844690523,     -0.00413012882870361338,  -0.000823939072426258278, 0.0000950982915818197074,
    -2.33653044311871003e-6,  -1.61167798599777465e-6,  4.48718072671819827e-7,   -6.18557098617910619e-8,
    -1.50120611182051458e-9,  3.87516900652293657e-9,   -1.3699662181035863e-9,   2.89245157066831395e-10,
    -2.13395903278253208e-11, -1.4017215305078637e-11,  8.59154966234032319e-12,  -2.96873604401690146e-12,
    6.81279530739865676e-13,  -5.27220083668578983e-14, -4.63312047293344886e-14, 3.26109561488320457e-14,
    -1.35464641501430522e-14, 4.0542935187873071e-15,   -7.31429825338001522e-16, -8.65509650043861183e-17,
    1.57589153960078201e-16,  -9.08496895782423904e-17, 3.73425136673417534e-17,  -1.15614231224399744e-17};
constexpr double kAiryCosine[] = {
    0.0171927077428138313,    0.0166461291072455682,    -0.000605839903028632503, -0.0000435172466120717713,
    0.0000141220377824388294, -1.735428482778055e-6,    -1.7235324161013376e-8,   7.14128376590703483e-8,
    -2.15447579907361414e-8,  3.5947542129527624e-9,    -2.81158653802562362e-11, -2.35831723561134398e-10,
    1.03948054056007073e-10,  -2.80319814547946425e-11, 4.22817035076073018e-12,  5.32711903346174504e-13,
    -6.99793279906457564e-13, 3.20009231264921454e-13,  -1.00010615189124204e-13, 2.00218276964916648e-14,
    3.48095234600178855e-16,  -2.72996836130634662e-15, 1.6376134006050879e-15,   -6.63185804767074761e-16,
    1.9818223696813278e-16,   -3.46513892016442012e-17, -6.15027064960166872e-18, 9.42974997305827235e-18,
    -5.54588286847664981e-18, 2.38039649656119166e-18,  -7.86783066590835497e-19};

double chebyshev(std::span<const double> coefficients, double x) {
  double next = 0;
  double after = 0;
  for (size_t i = coefficients.size(); i-- > 1;) {
    const double now = coefficients[i] + 2 * x * next - after;
    after = next;
    next = now;
  }
  return coefficients[0] + x * next - after;
}

// Its power series, the sum of two solutions of y'' = x y.
double airy_near_zero(double x) {
  constexpr double kAtZero = 0.355028053887817239260;
  constexpr double kSlopeAtZero = -0.258819403792806798405;
  const double cube = x * x * x;
  double even = 1;
  double odd = x;
  double sum = kAtZero + kSlopeAtZero * x;
  for (int k = 3; k < 60; k += 3) {
    even *= cube / (k * (k - 1));
    odd *= cube / (k * (k + 1));
    const double term = kAtZero * even + kSlopeAtZero * odd;
    sum += term;
    if (std::abs(term) < 1e-18) break;
  }
  return sum;
}
double airy_ai_of(double x) {
  if (!std::isfinite(x)) return kUndefined;
  const double a = std::abs(x);
  if (a < 2) return airy_near_zero(x);
  constexpr double kLeast = 1.8856180831641267317;  // zeta of 2
  const double zeta = 2 * a * std::sqrt(a) / 3;
  const double place = 2 * kLeast / zeta - 1;
  const double scale = std::numbers::inv_sqrtpi / std::sqrt(std::sqrt(a));
  if (x > 0) return scale / 2 * std::exp(-zeta) * chebyshev(kAiryDecay, place);
  const double angle = zeta + std::numbers::pi / 4;
  return scale *
         (std::sin(angle) * chebyshev(kAirySine, place) - std::cos(angle) * chebyshev(kAiryCosine, place));
}

double bessel_j0_of(double x) { return std::isinf(x) ? kUndefined : ::j0(x); }
double bessel_j1_of(double x) { return std::isinf(x) ? kUndefined : ::j1(x); }
double bessel_y0_of(double x) {
  if (x == 0) return -kPole;
  return x > 0 && x < kPole ? ::y0(x) : kUndefined;
}
double bessel_y1_of(double x) {
  if (x == 0) return -kPole;
  return x > 0 && x < kPole ? ::y1(x) : kUndefined;
}

// exp(x) K(x), 0 < x. Below 2 by its power series, in which psi is that of gamma.
double scaled_k0(double x) {
  if (x > 2) return chebyshev(kBesselK0, 4 / x - 1) / std::sqrt(x);
  const double z = x * x / 4;
  const double logarithm = std::log(x / 2);
  double psi = -std::numbers::egamma;
  double term = 1;
  double sum = 0;
  for (int k = 1; k < 30; ++k) {
    sum += term * (psi - logarithm);
    psi += 1.0 / k;
    term *= z / (static_cast<double>(k) * k);
    if (term < 1e-18) break;
  }
  return std::exp(x) * sum;
}
double scaled_k1(double x) {
  if (x > 2) return chebyshev(kBesselK1, 4 / x - 1) / std::sqrt(x);
  const double z = x * x / 4;
  const double logarithm = std::log(x / 2);
  double psi = 1 - 2 * std::numbers::egamma;  // psi(k) + psi(k + 1)
  double term = x / 2;
  double sum = 1 / x;
  for (int k = 1; k < 30; ++k) {
    sum += term * (logarithm - psi / 2);
    psi += 1.0 / k + 1.0 / (k + 1);
    term *= z / (static_cast<double>(k) * (k + 1));
    if (term < 1e-18 * x) break;
  }
  return std::exp(x) * sum;
}
template <double (*kScaled)(double)>
double scaled_or_pole(double x) {
  if (x == 0) return kPole;
  if (x == kPole) return 0;
  return x > 0 ? kScaled(x) : kUndefined;
}
double bessel_k0e_of(double x) { return scaled_or_pole<scaled_k0>(x); }
double bessel_k1e_of(double x) { return scaled_or_pole<scaled_k1>(x); }
double bessel_k0_of(double x) { return bessel_k0e_of(x) * std::exp(-x); }
double bessel_k1_of(double x) { return bessel_k1e_of(x) * std::exp(-x); }

double spherical_bessel_j0_of(double x) {
  if (std::isinf(x)) return 0;
  return x == 0 ? 1 : std::sin(x) / x;
}

}  // namespace

#define FLAMBEAU_BESSEL(name)                                                  \
  void name(const float* x, float* y, size_t n) {                              \
    for (size_t i = 0; i < n; ++i) y[i] = static_cast<float>(name##_of(x[i])); \
  }                                                                            \
  void name(const double* x, double* y, size_t n) {                            \
    for (size_t i = 0; i < n; ++i) y[i] = name##_of(x[i]);                     \
  }
FLAMBEAU_BESSEL(airy_ai)
FLAMBEAU_BESSEL(bessel_j0)
FLAMBEAU_BESSEL(bessel_j1)
FLAMBEAU_BESSEL(bessel_y0)
FLAMBEAU_BESSEL(bessel_y1)
FLAMBEAU_BESSEL(bessel_k0)
FLAMBEAU_BESSEL(bessel_k1)
FLAMBEAU_BESSEL(bessel_k0e)
FLAMBEAU_BESSEL(bessel_k1e)
FLAMBEAU_BESSEL(spherical_bessel_j0)
#undef FLAMBEAU_BESSEL

}  // namespace flambeau::kernels::special
