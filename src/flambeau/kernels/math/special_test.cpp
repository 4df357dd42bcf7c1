#include "flambeau/kernels/math/special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace flambeau::kernels {
namespace {

using Loop = void (*)(const double*, double*, size_t);

double at(Loop loop, double x) {
  loop(&x, &x, 1);
  return x;
}

constexpr double kInf = std::numeric_limits<double>::infinity();

// Of PyTorch 2.13, whose trigamma is right to 9 digits.
TEST(Special, KnownValues) {
  EXPECT_NEAR(at(special::digamma, 1), -0.5772156649015329, 1e-15);
  EXPECT_NEAR(at(special::digamma, -1.5), 0.7031566406452432, 1e-15);
  EXPECT_NEAR(at(special::trigamma, 1), 1.6449340668482264, 1e-15);
  EXPECT_NEAR(at(special::trigamma, -0.5), 8.934802200544679, 1e-13);
  EXPECT_NEAR(at(special::lgamma, 0.1), 2.252712651734206, 1e-15);
  EXPECT_NEAR(at(special::erfinv, 0.3), 0.2724627147267543, 1e-16);
  EXPECT_NEAR(at(special::erfinv, -0.999), -2.326753765513525, 1e-15);
  EXPECT_NEAR(at(special::ndtri, 0.001), -3.090232306167813, 1e-15);
  EXPECT_NEAR(at(special::ndtr, 1), 0.841344746068543, 1e-16);
  EXPECT_NEAR(at(special::bessel_i0, 3), 4.880792585865024, 1e-14);
  EXPECT_NEAR(at(special::bessel_i0e, 100), 0.03994437929909668, 1e-16);
  EXPECT_NEAR(at(special::bessel_i1, -3), -3.953370217402609, 1e-14);
  EXPECT_NEAR(at(special::bessel_i1e, 30), 0.07191633059864755, 1e-16);
  EXPECT_NEAR(at(special::sinc, 0.5), 0.6366197723675814, 1e-15);
  EXPECT_EQ(at(special::sinc, 0), 1);
  EXPECT_NEAR(at(special::entr, 0.5), 0.34657359027997264, 1e-16);
}

TEST(Special, PolesAndBorders) {
  EXPECT_EQ(at(special::digamma, 0.0), -kInf);
  EXPECT_EQ(at(special::digamma, -0.0), kInf);
  EXPECT_TRUE(std::isnan(at(special::digamma, -3)));
  EXPECT_EQ(at(special::digamma, kInf), kInf);
  EXPECT_EQ(at(special::lgamma, -2), kInf);
  EXPECT_EQ(at(special::trigamma, 0), kInf);
  EXPECT_EQ(at(special::erfinv, 1), kInf);
  EXPECT_EQ(at(special::erfinv, -1), -kInf);
  EXPECT_TRUE(std::isnan(at(special::erfinv, 1.5)));
  EXPECT_TRUE(std::signbit(at(special::erfinv, -0.0)));
  EXPECT_EQ(at(special::ndtri, 0), -kInf);
  EXPECT_TRUE(std::isnan(at(special::ndtri, -0.1)));
  EXPECT_EQ(at(special::bessel_i0, 0), 1);
  EXPECT_TRUE(std::isnan(at(special::bessel_i0, kInf)));
  EXPECT_EQ(at(special::entr, 0), 0);
  EXPECT_EQ(at(special::entr, -1), -kInf);
}

TEST(Special, InversesInvert) {
  for (double p = 1e-12; p < 1; p = p * 1.3 + 1e-13) {
    EXPECT_NEAR(at(special::ndtr, at(special::ndtri, p)), p, 3e-15);
    EXPECT_NEAR(std::erf(at(special::erfinv, p)), p, 3e-16);
  }
}

TEST(Special, FloatsAreRoundedDoubles) {
  const std::vector<float> x = {0.1F, 0.5F, 0.9F, 0.99999F};
  std::vector<float> y(x.size());
  special::erfinv(x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(at(special::erfinv, x[i])));
}

}  // namespace
}  // namespace flambeau::kernels
