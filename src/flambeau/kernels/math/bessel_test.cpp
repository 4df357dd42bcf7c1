#include "flambeau/kernels/math/bessel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace flambeau::kernels {
namespace {

using Loop = void (*)(const double*, double*, size_t);

double value_at(Loop loop, double x) {
  loop(&x, &x, 1);
  return x;
}

// Of mpmath, with 40 digits.
TEST(Bessel, KnownValues) {
  EXPECT_NEAR(value_at(special::airy_ai, -20), -0.17640612707798469, 1.0e-15);
  EXPECT_NEAR(value_at(special::airy_ai, -2.5), -0.11232506769296609, 1.0e-15);
  EXPECT_NEAR(value_at(special::airy_ai, -1.9), 0.28680005627949089, 1.1e-15);
  EXPECT_NEAR(value_at(special::airy_ai, 0.5), 0.23169360648083349, 9.3e-16);
  EXPECT_NEAR(value_at(special::airy_ai, 1.9), 0.040594420031529502, 1.6e-16);
  EXPECT_NEAR(value_at(special::airy_ai, 2.1), 0.029952602115866522, 1.2e-16);
  EXPECT_NEAR(value_at(special::airy_ai, 10), 1.1047532552898686e-10, 4.4e-25);
  EXPECT_NEAR(value_at(special::bessel_j0, 0.5), 0.9384698072408129, 3.8e-15);
  EXPECT_NEAR(value_at(special::bessel_j0, -7), 0.3000792705195556, 1.2e-15);
  EXPECT_NEAR(value_at(special::bessel_j1, -0.5), -0.24226845767487389, 1.0e-15);
  EXPECT_NEAR(value_at(special::bessel_j1, 12), -0.22344710449062761, 1.0e-15);
  EXPECT_NEAR(value_at(special::bessel_y0, 0.25), -0.93157302493005869, 3.7e-15);
  EXPECT_NEAR(value_at(special::bessel_y0, 9), 0.24993669828502468, 1.0e-15);
  EXPECT_NEAR(value_at(special::bessel_y1, 0.25), -2.7041052293152824, 1.1e-14);
  EXPECT_NEAR(value_at(special::bessel_y1, 9), 0.10431457519671589, 1.0e-15);
  EXPECT_NEAR(value_at(special::bessel_k0, 0.001), 7.0236888005623813, 2.8e-14);
  EXPECT_NEAR(value_at(special::bessel_k0, 1), 0.42102443824070833, 1.7e-15);
  EXPECT_NEAR(value_at(special::bessel_k0, 1.99), 0.1153017675517768, 4.6e-16);
  EXPECT_NEAR(value_at(special::bessel_k0, 2.01), 0.11250436099872805, 4.5e-16);
  EXPECT_NEAR(value_at(special::bessel_k0, 30), 2.1324774964630564e-14, 8.5e-29);
  EXPECT_NEAR(value_at(special::bessel_k1, 0.001), 999.99623815608555, 4.0e-12);
  EXPECT_NEAR(value_at(special::bessel_k1, 1), 0.60190723019723457, 2.4e-15);
  EXPECT_NEAR(value_at(special::bessel_k1, 1.99), 0.14171756162240131, 5.7e-16);
  EXPECT_NEAR(value_at(special::bessel_k1, 2.01), 0.13804087731920771, 5.5e-16);
  EXPECT_NEAR(value_at(special::bessel_k1, 30), 2.1677320018915494e-14, 8.7e-29);
  EXPECT_NEAR(value_at(special::bessel_k0e, 0.001), 7.0307160023782515, 2.8e-14);
  EXPECT_NEAR(value_at(special::bessel_k0e, 1), 1.144463079806895, 4.6e-15);
  EXPECT_NEAR(value_at(special::bessel_k0e, 1.99), 0.84349397337899282, 3.4e-15);
  EXPECT_NEAR(value_at(special::bessel_k0e, 2.01), 0.83965574909086785, 3.4e-15);
  EXPECT_NEAR(value_at(special::bessel_k0e, 30), 0.22788666561625373, 9.1e-16);
  EXPECT_NEAR(value_at(special::bessel_k1e, 0.001), 1000.9967345590684, 4.0e-12);
  EXPECT_NEAR(value_at(special::bessel_k1e, 1), 1.6361534862632582, 6.5e-15);
  EXPECT_NEAR(value_at(special::bessel_k1e, 1.99), 1.0367396067608633, 4.1e-15);
  EXPECT_NEAR(value_at(special::bessel_k1e, 2.01), 1.0302428743356034, 4.1e-15);
  EXPECT_NEAR(value_at(special::bessel_k1e, 30), 0.2316541293777118, 9.3e-16);
}

TEST(Bessel, PolesAndBeyond) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value_at(special::bessel_y0, 0), -infinity);
  EXPECT_EQ(value_at(special::bessel_k1, 0), infinity);
  EXPECT_EQ(value_at(special::bessel_k0, infinity), 0);
  EXPECT_EQ(value_at(special::spherical_bessel_j0, -infinity), 0);
  EXPECT_EQ(value_at(special::spherical_bessel_j0, 0), 1);
  EXPECT_TRUE(std::isnan(value_at(special::bessel_y1, -1)));
  EXPECT_TRUE(std::isnan(value_at(special::bessel_k0, -1)));
  EXPECT_TRUE(std::isnan(value_at(special::bessel_j0, infinity)));
  EXPECT_TRUE(std::isnan(value_at(special::airy_ai, std::nan(""))));
}

}  // namespace
}  // namespace flambeau::kernels
