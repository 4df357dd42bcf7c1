#include "flambeau/shapes/shape_env.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {
namespace {

using symbolic::eq;
using symbolic::Expr;
using symbolic::Number;
using symbolic::SymInt;
using symbolic::ValueRange;

class ShapeEnvTest : public testing::Test {
 protected:
  ShapeEnvTest() {
    env_.set_where([this] { return "model.cpp:" + std::to_string(line_); });
  }

  std::string text(const SymInt& value) { return to_string(env_.simplify(value).expr()); }
  std::string range(const SymInt& value) { return env_.info(value.expr()).range.to_string(); }
  std::string guards() {
    std::string result;
    for (const ShapeGuard& guard : env_.guards()) {
      if (!result.empty()) result += "; ";
      result += to_string(guard.condition);
    }
    return result;
  }
  std::string error(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& found) {
      return found.message() + " | " + found.remedy();
    }
    return "no error";
  }

  ShapeEnv env_;
  int line_ = 1;
};

TEST_F(ShapeEnvTest, NamesSymbolsAsPyTorchDoes) {
  EXPECT_EQ(text(env_.backed("L['x'].size()[0]", 4)), "s77");
  EXPECT_EQ(text(env_.backed("L['x'].size()[1]", 4)), "s27");
  EXPECT_EQ(text(env_.backed("L['y'].size()[0]", 4)), "s17");
  // A number that is taken moves up.
  EXPECT_EQ(text(env_.backed("L['x'].size()[0]", 4)), "s78");
  EXPECT_EQ(to_srepr(env_.symbols()[0]->symbol), "Symbol('s77', positive=True, integer=True)");
  EXPECT_EQ(env_.symbols()[0]->range.to_string(), "VR[2, int_oo]");
  EXPECT_EQ(env_.symbols()[0]->sources[0], "L['x'].size()[0]");
}

TEST_F(ShapeEnvTest, TakesZeroAndOneAsTheyAre) {
  EXPECT_TRUE(env_.backed("L['x'].size()[0]", 0).is_literal());
  EXPECT_TRUE(env_.backed("L['x'].size()[0]", 1).is_literal());
  const SymInt count = env_.backed("L['n']", 1, {.is_size = false});
  EXPECT_FALSE(count.is_literal());
  EXPECT_EQ(to_srepr(count.expr()), "Symbol('" + to_string(count.expr()) + "', integer=True)");
  EXPECT_EQ(range(count), "VR[-int_oo, int_oo]");
}

TEST_F(ShapeEnvTest, SharesStridesOfOneValue) {
  const SymInt a = env_.backed("L['x'].stride()[0]", 6, {.shares = true});
  const SymInt size = env_.backed("L['x'].size()[0]", 6);
  const SymInt b = env_.backed("L['y'].stride()[0]", 6, {.shares = true});
  EXPECT_EQ(text(a), text(b));
  EXPECT_NE(text(a), text(size));
}

TEST_F(ShapeEnvTest, AnswersWhatRangesSayWithoutAGuard) {
  const SymInt a = env_.backed("L['x'].size()[0]", 4);
  EXPECT_FALSE(a == 1);
  EXPECT_FALSE(a == 0);
  EXPECT_TRUE(a >= 0);
  EXPECT_TRUE(a > 1);
  EXPECT_TRUE(2 * a > 3);
  EXPECT_FALSE(a * a == 2 * a - 3);
  EXPECT_EQ(guards(), "");
}

TEST_F(ShapeEnvTest, RemembersAnswersAsGuards) {
  const SymInt a = env_.backed("L['x'].size()[0]", 4);
  EXPECT_TRUE(a > 3);
  line_ = 2;
  EXPECT_FALSE(a > 10);
  EXPECT_TRUE(a >= 4);
  EXPECT_FALSE(a == 7);
  EXPECT_FALSE(a == 7);
  EXPECT_EQ(guards(), "s77 > 3; s77 <= 10; Ne(s77, 7)");
  EXPECT_EQ(env_.guards()[1].where, "model.cpp:2");
  EXPECT_EQ(range(a), "VR[4, 10]");
  EXPECT_EQ(env_.info(a.expr()).lower_where, "model.cpp:1");
}

TEST_F(ShapeEnvTest, EqualityReplacesTheLaterSymbol) {
  const SymInt a = env_.backed("L['x'].size()[0]", 4);
  const SymInt b = env_.backed("L['y'].size()[0]", 4);
  EXPECT_TRUE(a > 2);
  EXPECT_TRUE(a == b);
  EXPECT_EQ(text(a), "s17");
  EXPECT_TRUE(b > 2);
  EXPECT_EQ(guards(), "s77 > 2; Eq(s77, s17)");
  const SymInt c = env_.backed("L['z'].size()[0]", 8);
  EXPECT_TRUE(2 * a == c);
  EXPECT_EQ(text(c), "2*s17");
  EXPECT_EQ(range(b), "VR[3, int_oo]");
}

TEST_F(ShapeEnvTest, EqualityWithANumberSpecializes) {
  const SymInt a = env_.backed("L['x'].size()[0]", 4);
  EXPECT_TRUE(3 * a + 1 == 13);
  EXPECT_EQ(text(a), "4");
  EXPECT_EQ(env_.specialize(env_.backed("L['y'].size()[0]", 5)), 5);
  EXPECT_EQ(guards(), "Eq(3*s77 + 1, 13); Eq(s17, 5)");
}

TEST_F(ShapeEnvTest, LearnsWhatDivides) {
  const SymInt a = env_.backed("L['x'].size()[0]", 12);
  EXPECT_TRUE(modulo(a, 4) == 0);
  EXPECT_TRUE(modulo(a, 4) == 0);
  EXPECT_EQ(to_srepr(env_.simplify(floor_div(a, 4).expr())).substr(0, 8), "CleanDiv");
}

TEST_F(ShapeEnvTest, DataHasNoAnswer) {
  const SymInt a = env_.unbacked();
  line_ = 7;
  EXPECT_EQ(text(a), "u0");
  EXPECT_EQ(
      error([&] { (void)(a > 3); }),
      "whether u0 > 3 holds is asked at model.cpp:7, but it depends on data (u0 from model.cpp:1) | Say "
      "which before this line: check(u0 > 3) or check(u0 <= 3); check_is_size for a number that is used "
      "as a size");
  EXPECT_EQ(
      error([&] { env_.specialize(a); }),
      "the value of u0 is needed at model.cpp:7, but it depends on data (u0 from model.cpp:1) | Keep it "
      "as a size (SymInt), or compute with tensors instead");
  EXPECT_TRUE(env_.decide_or(symbolic::gt(a.expr(), Expr(3)), true));
  EXPECT_EQ(guards(), "");
}

TEST_F(ShapeEnvTest, ChecksOfDataAreAssertions) {
  const SymInt size = env_.backed("L['x'].size()[0]", 9);
  const SymInt a = env_.unbacked();
  env_.check(symbolic::ge(a.expr(), Expr(2)));
  env_.check(symbolic::le(a.expr(), size.expr()), "too many");
  EXPECT_TRUE(a >= 2);
  EXPECT_TRUE(a <= size);
  EXPECT_TRUE(a < size + 1);
  EXPECT_EQ(range(a), "VR[2, int_oo]");
  ASSERT_EQ(env_.assertions().size(), 2u);
  EXPECT_EQ(to_string(env_.assertions()[0].condition), "2 <= u0");
  EXPECT_EQ(to_string(env_.assertions()[1].condition), "u0 <= s77");
  EXPECT_EQ(env_.assertions()[1].symbol, "u0");
  EXPECT_EQ(env_.assertions()[1].message, "too many");
  EXPECT_EQ(error([&] { env_.check(symbolic::lt(a.expr(), Expr(1)), "no"); }),
            "the check u0 < 1 does not hold at model.cpp:1: no | ");
}

TEST_F(ShapeEnvTest, ChecksOfInputsAreGuards) {
  const SymInt size = env_.backed("L['x'].size()[0]", 9);
  env_.check(symbolic::ge(size.expr(), Expr(5)));
  EXPECT_EQ(guards(), "s77 >= 5");
  EXPECT_TRUE(env_.assertions().empty());
}

TEST_F(ShapeEnvTest, DataCanEqualAnInput) {
  const SymInt size = env_.backed("L['x'].size()[0]", 9);
  const SymInt a = env_.unbacked();
  env_.check(eq(a.expr(), (size * 2).expr()));
  EXPECT_EQ(text(a), "2*s77");
  const SymInt b = env_.unbacked();
  const SymInt c = env_.unbacked();
  env_.check(eq(b.expr(), c.expr()));
  EXPECT_EQ(text(b), "u1");
  EXPECT_TRUE(b == c);
}

TEST_F(ShapeEnvTest, SizesFromDataHaveRanges) {
  const SymInt a = env_.unbacked_size(7);
  EXPECT_EQ(range(a), "VR[0, 7]");
  EXPECT_TRUE(a >= 0);
  EXPECT_TRUE(a < 8);
  const SymInt b = env_.unbacked();
  env_.check_is_size(b, 10);
  EXPECT_EQ(range(b), "VR[0, 10]");
  EXPECT_EQ(env_.assertions().size(), 2u);
  EXPECT_EQ(error([&] { env_.constrain_range(a, 9, {}); }),
            "u0 is known to be from 0 to 7, which is not in the range [9, int_oo] | ");
}

TEST_F(ShapeEnvTest, RulesOfUsersNarrow) {
  const SymInt a = env_.backed("L['x'].size()[0]", 4, {.range = ValueRange(Number(0), Number(16))});
  EXPECT_EQ(range(a), "VR[2, 16]");
  EXPECT_TRUE(a <= 16);
  EXPECT_EQ(guards(), "");
  EXPECT_EQ(
      error([&] { env_.backed("L['y'].size()[0]", 4, {.range = ValueRange(Number(5), Number(16))}); }),
      "L['y'].size()[0] is 4 in the example, which is not in the range [5, 16] given for it | Export with "
      "an example inside the range, or widen the range");
  EXPECT_EQ(
      error([&] { env_.backed("L['y'].size()[0]", 4, {.range = ValueRange::single(Number(5))}); }),
      "L['y'].size()[0] is said to be 5, but the example has 4 there | Say the size that the example has, "
      "or make the dimension dynamic");
}

TEST_F(ShapeEnvTest, SimplifiesStridesOfContiguousTensors) {
  const SymInt a = env_.backed("L['x'].size()[0]", 4);
  EXPECT_EQ(text(max(1, a)), "s77");
  const SymInt u = env_.unbacked_size();
  EXPECT_EQ(text(max(1, u)), "Max(1, u0)");
  EXPECT_EQ(text(max(0, u)), "u0");
}

}  // namespace
}  // namespace flambeau::trace
