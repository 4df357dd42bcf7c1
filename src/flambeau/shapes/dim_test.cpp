#include "flambeau/shapes/dim.h"

#include <gtest/gtest.h>

#include <functional>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/ranges/value_range.h"

namespace flambeau::trace {
namespace {

std::string error(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& found) {
    return found.message() + " | " + found.remedy();
  }
  return "no error";
}

TEST(Dim, Names) {
  const Dim batch("batch", {.min = 2, .max = 64});
  EXPECT_EQ(batch.to_string(), "Dim('batch', min=2, max=64)");
  EXPECT_EQ(batch.range().to_string(), "VR[2, 64]");
  EXPECT_EQ(Dim("batch").range().to_string(), "VR[0, int_oo]");
  EXPECT_EQ(error([] { Dim("2x"); }),
            "a dimension is named '2x', which is no identifier | Use letters, digits and underscores");
  EXPECT_EQ(
      error([] { Dim("x", {.min = 4, .max = 4}); }),
      "the dimension x has no two sizes between its minimum 4 and its maximum 4 | Give a maximum above the "
      "minimum, or the size itself where there is only one");
}

TEST(Dim, Derives) {
  const Dim batch("batch", {.min = 2, .max = 64});
  EXPECT_EQ((2 * batch).name(), "2*batch");
  EXPECT_EQ((2 * batch + 1).name(), "2*batch + 1");
  EXPECT_EQ(((batch + 1) * 3).name(), "3*batch + 3");
  EXPECT_EQ((batch - 1).name(), "batch - 1");
  EXPECT_EQ((2 * batch + 1).range().to_string(), "VR[5, 129]");
  EXPECT_EQ((2 * batch + 1).root().to_string(), batch.to_string());
  EXPECT_EQ((2 * batch + 1).solve_root(9), 4);
  EXPECT_EQ((2 * batch + 1).solve_root(8), std::nullopt);
  EXPECT_EQ(error([&] { (Dim("n") - 1).range(); }),
            "n - 1 is -1 for the smallest n, 0 | Give n a minimum that keeps n - 1 from being negative");
  EXPECT_EQ(
      error([&] { batch * 0; }),
      "the dimension batch is multiplied by 0 | Multiply by a positive integer: only what grows with the "
      "dimension is supported");
  EXPECT_EQ(error([&] { Dim(Dim::AUTO) + 1; }),
            "arithmetic with a dimension that has no name | Name it: Dim(\"batch\")");
}

TEST(Dim, Hints) {
  EXPECT_EQ(Dim(Dim::AUTO).to_string(), "Dim.AUTO");
  EXPECT_EQ(Dim(Dim::DYNAMIC({.min = 2, .max = 8})).to_string(), "Dim.DYNAMIC(min=2, max=8)");
  EXPECT_EQ(Dim(Dim::STATIC).to_string(), "Dim.STATIC");
  EXPECT_EQ(Dim(4).to_string(), "4");
  EXPECT_EQ(
      error([] { Dim::AUTO({.min = 5, .max = 3}); }),
      "the bounds of a dimension are from 5 to 3 | Give bounds that are not negative, the smaller one first");
}

}  // namespace
}  // namespace flambeau::trace
