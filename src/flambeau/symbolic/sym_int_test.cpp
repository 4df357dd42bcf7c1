#include "flambeau/symbolic/sym_int.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

// Answers yes, and remembers what it was asked.
class Yes : public Decider {
 public:
  bool decide(const Expr& condition) override {
    asked.push_back(to_string(condition));
    return true;
  }
  std::vector<std::string> asked;
};

TEST(SymInt, AsksWithALiteralOnTheRight) {
  Yes decider;
  const SymInt a(symbol("a"), decider);
  const SymInt b(symbol("b"), decider);
  EXPECT_TRUE(a > b);
  EXPECT_TRUE(a >= b);
  EXPECT_TRUE(a < b);
  EXPECT_TRUE(a <= b);
  EXPECT_TRUE(3 < a);
  EXPECT_TRUE(3 > a);
  EXPECT_TRUE(3 >= a);
  EXPECT_TRUE(a == 3);
  EXPECT_EQ(decider.asked, (std::vector<std::string>{"a > b", "a >= b", "a < b", "a <= b", "a > 3", "a < 3",
                                                     "a <= 3", "Eq(a, 3)"}));
}

TEST(SymInt, IsSharedAndCounted) {
  Yes decider;
  SymInt a(symbol("a"), decider);
  SymInt copy = a;
  const SymInt moved = std::move(a);
  EXPECT_TRUE(a.is_literal());  // NOLINT(bugprone-use-after-move): it is a number then
  copy = static_cast<const SymInt&>(copy);
  EXPECT_EQ(to_string((copy + moved).expr()), "2*a");
  copy = 4;
  EXPECT_EQ(copy.literal(), 4);
  EXPECT_EQ(to_string(moved.expr()), "a");
}

TEST(SymInt, RoundsToEvenAsPythonDoes) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (const int64_t b : {-4, -3, -2, -1, 1, 2, 3, 4}) {
      const double ratio = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(round_div(a, b), static_cast<int64_t>(std::nearbyint(ratio))) << a << " / " << b;
    }
  }
  EXPECT_THROW(round_div(1, 0), Error);
  Yes decider;
  const SymInt a(symbol("a"), decider);
  EXPECT_EQ(to_string(round_div(a, 2).expr()), "RoundToInt(IntTrueDiv(a, 2))");
}

}  // namespace
}  // namespace flambeau::symbolic
