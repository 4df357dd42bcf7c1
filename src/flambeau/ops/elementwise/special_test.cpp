// Special functions where samples do not reach: degrees that no recurrence would end at, domains, symbols.
#include <gtest/gtest.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::ops {
namespace {

double at(Fixture& f, const std::string& name, double x, double n) {
  return item(f.run("aten::special_" + name, scalar_tensor(x, DType::kFloat64),
                    scalar_tensor(n, DType::kFloat64)))
      .to_double();
}

TEST(Polynomials, HighDegreesTakeNoTime) {
  Fixture f;
  EXPECT_NEAR(at(f, "chebyshev_polynomial_t", 0.3, 1e15), std::cos(1e15 * std::acos(0.3)), 1e-9);
  EXPECT_NEAR(at(f, "legendre_polynomial_p", 0.0, 2e6), 0.000564189513, 1e-9);
  EXPECT_NEAR(at(f, "legendre_polynomial_p", 0.3, 2e6), at(f, "legendre_polynomial_p", -0.3, 2e6), 1e-15);
  EXPECT_LT(std::abs(at(f, "laguerre_polynomial_l", 0.5, 4e18)), 1e-3);
  EXPECT_EQ(at(f, "laguerre_polynomial_l", 0, 4e18), 1);
  EXPECT_GT(at(f, "chebyshev_polynomial_u", 1 + 1e-15, 4e18), 1e18);
  EXPECT_TRUE(std::isnan(at(f, "hermite_polynomial_h", 0.5, 4e18)));
  EXPECT_EQ(at(f, "hermite_polynomial_he", 0.5, NAN), 0);
  EXPECT_EQ(at(f, "hermite_polynomial_he", 0.5, -0.5), 1);
  EXPECT_EQ(at(f, "shifted_chebyshev_polynomial_w", 0, 7), -1);
}

TEST(Polynomials, TheFormForHighDegreesMeetsTheRecurrence) {
  Fixture f;
  for (const char* const name : {"legendre_polynomial_p", "laguerre_polynomial_l"}) {
    for (const double x : {0.1, 0.7}) {
      const double before = at(f, name, x, 1000000);
      const double after = at(f, name, x, 1000001);
      EXPECT_LT(std::abs(before), 0.1) << name;
      EXPECT_LT(std::abs(after - before), 0.01) << name;
    }
  }
}

TEST(IncompleteGamma, BothPartsAreOne) {
  Fixture f;
  for (const double a : {0.2, 3.0, 50.0, 9000.0, 2e4, 1e9}) {
    for (const double ratio : {0.5, 0.99, 1.0, 1.01, 2.0}) {
      const Tensor first = scalar_tensor(a, DType::kFloat64);
      const Tensor second = scalar_tensor(a * ratio, DType::kFloat64);
      const double below = item(f.run("aten::igamma", first, second)).to_double();
      const double above = item(f.run("aten::igammac", first, second)).to_double();
      EXPECT_NEAR(below + above, 1, 1e-12) << a << " " << ratio;
      EXPECT_GE(below, 0);
      EXPECT_LE(below, 1);
    }
  }
  EXPECT_EQ(
      f.error("aten::igamma", Tensor::zeros(DType::kInt64, Dims{2}), Tensor::zeros(DType::kInt64, Dims{2})),
      "\"igamma\" not implemented for 'Long'");
}

}  // namespace
}  // namespace flambeau::ops
