#include "flambeau/symbolic/text/print.h"

#include <gtest/gtest.h>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/float_text.h"
#include "flambeau/symbolic/text/parse.h"

namespace flambeau::symbolic {
namespace {

// Text that sympy 1.14 with PyTorch 2.13's functions prints; each line must come back as it is.
TEST(Print, GoldenText) {
  for (const char* text : {
           "s0",
           "2*s0 + 1",
           "1 - s0",
           "-s0 - 1",
           "s0 - s1",
           "-2*s0*s1",
           "s0**2 + s0*s1 + s1**2",
           "s0*(s1 + 1)",
           "-(s1 + u0)*(Mod(s0, 4))",
           "(s0//4)",
           "((s0//4)) + 1",
           "3*((s0//4))",
           "-((s0//4))",
           "((s0 + 1)//4)",
           "(s0//(s1 + 1))",
           "(s0//((s1//2)))",
           "Mod(s0, 2)",
           "(Mod(s0, 2)) + 1",
           "2*s0*(Mod(s1, 3))",
           "PythonMod(u0, 5)",
           "Max(1, u0)",
           "Min(8, s0, u0)",
           "2*Max(1, u0)",
           "Eq(s0, 4)",
           "Ne(Mod(s0, 2), 0)",
           "s0 < 5",
           "((s0//2)) <= 3",
           "Eq(s0, 4) & (s1 < 5)",
           "(s1 > 7) | (s0 < 5)",
           "~(Eq(s0, 4) & (s1 < 5))",
           "Piecewise((1, s0 < u0), (0, True))",
           "Where(s0 < 4, u0, 1)",
           "sqrt(s0)",
           "1/s0",
           "s0/2",
           "3*s0/(2*s1)",
           "s0**(-2)",
           "1/sqrt(s0)",
           "2**s0",
           "s0**s1",
           "1/2",
           "-1/2",
           "0.5*zf0 + 1.0e-7",
           "0.500000000000000",
           "oo",
           "-oo",
           "int_oo",
           "-int_oo",
           "zoo",
           "nan",
           "True",
           "False",
           "CeilToInt(IntTrueDiv(s0, 3))",
           "OpaqueUnaryFn_sqrt(ToFloat(s0))",
           "ModularIndexing(s0, 4, 16)",
           "s0*(PowByNatural(2, u0))",
           "IsNonOverlappingAndDenseIndicator(s0, u0, u0, s0)",
           "unknown_size(s0, 2)",
       })
    EXPECT_EQ(to_string(parse(text)), text);
}

TEST(Print, GoldenSrepr) {
  for (const char* text : {
           "Symbol('s0', positive=True, integer=True)",
           "Symbol('x')",
           "Symbol('u0', integer=True, nonnegative=True)",
           "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))",
           "Mul(Integer(-1), Integer(2), Symbol('s0', positive=True, integer=True))",
           "Pow(Symbol('s0', positive=True, integer=True), Rational(1, 2))",
           "FloorDiv(Symbol('s0', positive=True, integer=True), Integer(4))",
           "CleanDiv(Symbol('s0', positive=True, integer=True), Integer(4))",
           "StrictLessThan(Symbol('s0', positive=True, integer=True), Integer(5))",
           "Piecewise(ExprCondPair(Integer(1), Equality(Symbol('u0', integer=True), Integer(3))), "
           "ExprCondPair(Integer(0), true))",
           "Mul(Float('9.9999999999999995e-8', precision=53), Symbol('zf0', real=True))",
           "Float('0.5', precision=53)",
           "Function('foo')(Symbol('s0', positive=True, integer=True))",
           "SomeClass(Symbol('s0', positive=True, integer=True), Integer(2))",
           "Identity(Symbol('s0', positive=True, integer=True))",
           "true",
           "int_oo",
       })
    EXPECT_EQ(to_srepr(parse(text)), text);
}

TEST(Print, FloatTextRoundsHalfUpInDecimal) {
  EXPECT_EQ(float_text(0.5, 15, false), "0.500000000000000");
  EXPECT_EQ(float_text(0.5, 15, true), "0.5");
  EXPECT_EQ(float_text(0.1, 17, true), "0.10000000000000001");
  EXPECT_EQ(float_text(1e-7, 15, true), "1.0e-7");
  EXPECT_EQ(float_text(-123456789.125, 15, true), "-123456789.125");
  EXPECT_EQ(float_text(1e22, 15, true), "1.0e+22");
  EXPECT_EQ(float_text(999999999999999.9, 15, true), "1.0e+15");
  EXPECT_EQ(float_text(100000000000000.5, 15, true), "100000000000001.0");
  EXPECT_EQ(float_text(1e14, 15, false), "100000000000000.");
  EXPECT_EQ(float_text(0, 15, false), "0.0");
}

}  // namespace
}  // namespace flambeau::symbolic
