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

TEST(SymInt, ComputesAsPythonDoes) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (const int b : {-4, -3, -2, -1, 1, 2, 3, 4}) {
      const double ratio = static_cast<double>(a) / b;
      const auto quotient = static_cast<int64_t>(std::floor(ratio));
      EXPECT_EQ((SymInt(a) / b).literal(), quotient) << a << " / " << b;
      EXPECT_EQ((a % SymInt(b)).literal(), a - quotient * b) << a << " % " << b;
      EXPECT_EQ(min(SymInt(a), b).literal(), std::min<int64_t>(a, b));
      EXPECT_EQ(max(b, SymInt(a)).literal(), std::max<int64_t>(a, b));
    }
  }
  SymInt number = 17;
  number /= 3;
  EXPECT_EQ(number.literal(), 5);
  number %= 3;
  EXPECT_EQ((-number).literal(), -2);
}

TEST(SymInt, ExpressionsArePythons) {
  Yes decider;
  const SymInt a(symbol("a", {{Fact::kInteger, true}, {Fact::kPositive, true}}), decider);
  const SymInt z(symbol("z", {{Fact::kInteger, true}}), decider);
  const int64_t two = 2;
  EXPECT_EQ(to_string((a / two).expr()), "(a//2)");
  EXPECT_EQ(to_string((7 / a).expr()), "(7//a)");
  EXPECT_EQ(to_string((a % 2).expr()), "Mod(a, 2)");
  EXPECT_EQ(to_string((z % 2).expr()), "PythonMod(z, 2)");
  EXPECT_EQ(to_string((two - a * 3 + 1).expr()), "3 - 3*a");
  EXPECT_EQ(to_string((-a / 2).expr()), "((-a)//2)");
  EXPECT_EQ(to_string(min(a, 4).expr()), "Min(4, a)");
  EXPECT_EQ(to_string(max(4, a).expr()), "Max(4, a)");
  EXPECT_TRUE(decider.asked.empty());
}

TEST(SymInt, DivisionByZeroIsAnError) {
  Yes decider;
  const SymInt a(symbol("a"), decider);
  for (const SymInt& number : {SymInt(7), a}) {
    EXPECT_THROW(number / 0, Error);
    EXPECT_THROW(number % 0, Error);
  }
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
