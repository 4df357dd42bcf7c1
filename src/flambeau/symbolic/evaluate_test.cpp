#include "flambeau/symbolic/evaluate.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

Number value(std::string_view text, const Bindings& bindings = {{"s0", 7}, {"s1", 3}, {"u0", -7}}) {
  return evaluate(parse(text), bindings);
}

std::string value_error(std::string_view text) {
  try {
    value(text);
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.message();
  }
  return "no error";
}

TEST(Evaluate, SaysWhatHasNoValue) {
  EXPECT_FALSE(has_unknown_functions(parse("Max(2, s0)**2 + math.sqrt(s1)")));
  EXPECT_TRUE(has_unknown_functions(parse("1 + Mod(check(s0), 2)")));
}

TEST(Evaluate, PythonSemantics) {
  EXPECT_EQ(value("u0//s1"), Number(-3));
  EXPECT_EQ(value("PythonMod(u0, s1)"), Number(2));
  EXPECT_EQ(value("PythonMod(s0, -s1)"), Number(-2));
  EXPECT_EQ(value("s0/s1"), Number::rational(7, 3));
  EXPECT_EQ(value("IntTrueDiv(s0, 2)"), Number::real(3.5));
  EXPECT_EQ(value("RoundToInt(IntTrueDiv(s0 + 3, 4))"), Number(2));
  EXPECT_EQ(value("RoundToInt(IntTrueDiv(s0, 2))"), Number(4));
  EXPECT_EQ(value("RoundToInt(IntTrueDiv(s0 - 2, 2))"), Number(2));
  EXPECT_EQ(value("TruncToInt(IntTrueDiv(u0, 2))"), Number(-3));
  EXPECT_EQ(value("Max(u0, s1)**2"), Number(9));
  EXPECT_EQ(value("Piecewise((1, s0 > s1), (0, True))"), Number(1));
  EXPECT_EQ(value("s0 < s1"), Number::boolean(false));
  EXPECT_EQ(value("sqrt(2)*sqrt(s0 + 1)"), Number(4));
  EXPECT_EQ(value("ModularIndexing(s0, 2, 2)"), Number(1));
}

TEST(Evaluate, Errors) {
  EXPECT_EQ(value_error("s0 + s9"), "not_found: symbol 's9' has no value");
  EXPECT_EQ(value_error("FloorDiv(s0, u0 + 7)"), "invalid_argument: FloorDiv: division by zero");
  EXPECT_EQ(value_error("1/(u0 + 7)"), "invalid_argument: Pow: division by zero");
  EXPECT_EQ(value_error("s0**40"), "limit: an integer of a symbolic expression does not fit 64 bits");
  EXPECT_EQ(value_error("9223372036854775807 + s0"),
            "limit: an integer of a symbolic expression does not fit 64 bits");
  EXPECT_EQ(value_error("who_knows(s0)"), "unsupported: who_knows cannot be evaluated");
}

TEST(Evaluate, SubstituteBuildsAgain) {
  const Expr s0 = symbol("s0");
  const Expr s1 = symbol("s1");
  EXPECT_EQ(to_string(substitute(parse("FloorDiv(s0 + 3, 2) + s0"), {{s0, mul(Expr(2), s1)}})), "3*s1 + 1");
  EXPECT_EQ(substitute(parse("s0 < 5"), {{s0, Expr(4)}}), boolean(true));
  EXPECT_EQ(to_string(substitute(parse("Mod(s0, 4) + s1"), {{parse("Mod(s0, 4)"), Expr(2)}})), "s1 + 2");
}

TEST(Evaluate, FreeSymbolsAppearOnce) {
  std::string names;
  for (const Expr& found : free_symbols(parse("u0 + s0*u0 + Mod(s1, 4)")))
    names += std::string(found.name()) + " ";
  EXPECT_EQ(names.size(), 9u);
}

}  // namespace
}  // namespace flambeau::symbolic
