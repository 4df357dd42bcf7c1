#include "flambeau/symbolic/build.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

std::string canonical_text(std::string_view text) { return to_string(parse(text)); }

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.message();
  }
  return "no error";
}

TEST(Build, SumsCollectLikeTerms) {
  EXPECT_EQ(canonical_text("s0 + s0"), "2*s0");
  EXPECT_EQ(canonical_text("s0 - s0"), "0");
  EXPECT_EQ(canonical_text("s0*s1 + 3 + s1*s0*2 - 1"), "3*s0*s1 + 2");
  EXPECT_EQ(canonical_text("2*(s0 + 1)"), "2*s0 + 2");
  EXPECT_EQ(canonical_text("(s0 + 1)*(s0 + 1)"), "(s0 + 1)**2");
  EXPECT_EQ(canonical_text("s0 + 1/2 + 1/2"), "s0 + 1");
}

TEST(Build, ProductsCollectPowers) {
  EXPECT_EQ(canonical_text("s0*s1*s0"), "s0**2*s1");
  EXPECT_EQ(canonical_text("s0*s0**-1"), "1");
  EXPECT_EQ(canonical_text("(2*s0)**2"), "4*s0**2");
  EXPECT_EQ(canonical_text("sqrt(12*s0)"), "2*sqrt(3)*sqrt(s0)");
  EXPECT_EQ(canonical_text("sqrt(2)*sqrt(3)"), "sqrt(6)");
  EXPECT_EQ(canonical_text("2**s0*3**s0"), "6**s0");
  EXPECT_EQ(canonical_text("sqrt(u0**2)"), "Abs(u0)");
  EXPECT_EQ(canonical_text("0*s0"), "0");
}

TEST(Build, FloorDivision) {
  EXPECT_EQ(canonical_text("FloorDiv(s0, 1)"), "s0");
  EXPECT_EQ(canonical_text("FloorDiv(s0, s0)"), "1");
  EXPECT_EQ(canonical_text("FloorDiv(4*s0 + 2, 4)"), "s0");
  EXPECT_EQ(canonical_text("FloorDiv(4*s0 + 6, 4)"), "s0 + 1");
  EXPECT_EQ(canonical_text("FloorDiv(FloorDiv(s0, 2), 3)"), "(s0//6)");
  EXPECT_EQ(canonical_text("FloorDiv(6*s0, 4)"), "((3*s0)//2)");
  EXPECT_EQ(canonical_text("FloorDiv(s0*s1, s1)"), "s0");
  EXPECT_EQ(canonical_text("FloorDiv(-7, 2)"), "-4");
}

TEST(Build, Modulo) {
  EXPECT_EQ(canonical_text("Mod(s0, 1)"), "0");
  EXPECT_EQ(canonical_text("Mod(4*s0, 2)"), "0");
  EXPECT_EQ(canonical_text("Mod(2*s0 + 1, 2)"), "1");
  EXPECT_EQ(canonical_text("PythonMod(-7, 3)"), "2");
  EXPECT_EQ(canonical_text("Mod(s0, 2*s0)"), "s0");
  EXPECT_EQ(message_of([] { mod(symbol("s0"), Expr(0)); }), "invalid_argument: Mod: division by zero");
  EXPECT_EQ(message_of([] { mod(Expr(-3), Expr(2)); }),
            "invalid_argument: the first operand of Mod is negative");
}

TEST(Build, MaxAndMin) {
  EXPECT_EQ(canonical_text("Max(1, s0)"), "s0");
  EXPECT_EQ(canonical_text("Min(1, s0)"), "1");
  EXPECT_EQ(canonical_text("Max(0, u0)"), "Max(0, u0)");
  EXPECT_EQ(canonical_text("Max(u0, Max(3, u1), 2)"), "Max(3, u0, u1)");
  EXPECT_EQ(canonical_text("Max(s0, 2*s0)"), "2*s0");
  EXPECT_EQ(canonical_text("Min(Max(u0, u1), Max(u0, u2))"), "Max(u0, Min(u1, u2))");
  EXPECT_EQ(canonical_text("Min(2, Max(5, u0))"), "2");
}

TEST(Build, RelationsAreDecidedWhereSignsTell) {
  EXPECT_EQ(canonical_text("s0 > 0"), "True");
  EXPECT_EQ(canonical_text("s0 >= 2"), "s0 >= 2");
  EXPECT_EQ(canonical_text("Eq(s0, 0)"), "False");
  EXPECT_EQ(canonical_text("Eq(s0 + 1, s0)"), "False");
  EXPECT_EQ(canonical_text("s0 + s1 > 1"), "s0 + s1 > 1");
  EXPECT_EQ(canonical_text("u0 < int_oo"), "u0 < int_oo");
  EXPECT_EQ(canonical_text("not s0 < 5"), "s0 >= 5");
  EXPECT_EQ(canonical_text("s0 < 5 and 5 <= s0"), "False");
  EXPECT_EQ(canonical_text("2 < s0 < 5"), "(2 < s0) & (s0 < 5)");
}

TEST(Build, PiecewiseConditionsAreNormal) {
  EXPECT_EQ(canonical_text("Piecewise((1, 5 > 2*s0), (0, True))"), "Piecewise((1, s0 < 5/2), (0, True))");
  EXPECT_EQ(canonical_text("Piecewise((1, s0 > 0), (0, True))"), "1");
  EXPECT_EQ(canonical_text("Piecewise((1, s0 < 3), (2, s0 >= 3))"), "Piecewise((1, s0 < 3), (2, True))");
}

TEST(Build, ValuesBeyond64BitsAreRefused) {
  EXPECT_EQ(message_of([] { parse("9223372036854775807*2*s0"); }),
            "limit: an integer of a symbolic expression does not fit 64 bits");
  EXPECT_EQ(message_of([] { parse("2**64"); }),
            "limit: an integer of a symbolic expression does not fit 64 bits");
  EXPECT_EQ(message_of([] { parse("9223372036854775808"); }),
            "limit: integer 9223372036854775808 does not fit 64 bits");
  EXPECT_EQ(to_string(parse("-9223372036854775808")), "-9223372036854775808");
  // PyTorch's function has an infinity of its own for that.
  EXPECT_EQ(canonical_text("PowByNatural(2, 64)"), "int_oo");
}

TEST(Build, SymbolsAreEqualByWhatFollowsFromTheirAssumptions) {
  const Expr a = symbol("s0", {{Fact::kPositive, true}, {Fact::kInteger, true}});
  const Expr b = symbol("s0", {{Fact::kInteger, true}, {Fact::kPositive, true}});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_EQ(subtract(a, b), Expr(0));
  EXPECT_FALSE(a == symbol("s0", {{Fact::kInteger, true}}));
  EXPECT_EQ(a, symbol("s0"));
  EXPECT_EQ(message_of([] { symbol("x", {{Fact::kPositive, true}, {Fact::kNegative, true}}); }),
            "invalid_argument: the assumptions about symbol 'x' contradict each other");
}

TEST(Build, ConditionsAndNumbersDoNotMix) {
  EXPECT_EQ(message_of([] { add(lt(symbol("u0"), Expr(2)), Expr(1)); }),
            "invalid_argument: Add takes numbers, but an argument is a condition (StrictLessThan)");
  EXPECT_EQ(message_of([] { and_({symbol("u0"), add(symbol("u1"), Expr(2))}); }),
            "invalid_argument: And takes conditions, but an argument is a number (Add)");
  EXPECT_EQ(message_of([] { apply("FloorDiv", {Expr(1)}); }),
            "invalid_argument: FloorDiv takes 2 arguments, found 1");
}

}  // namespace
}  // namespace flambeau::symbolic
