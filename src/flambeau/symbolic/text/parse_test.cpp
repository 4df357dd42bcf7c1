#include "flambeau/symbolic/text/parse.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

std::string parse_error(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

TEST(Parse, PythonText) {
  EXPECT_EQ(to_string(parse("s0 % 4 == 0 and s1 != 2")), "Ne(s1, 2) & Eq(Mod(s0, 4), 0)");
  EXPECT_EQ(to_string(parse("u0 % 4")), "PythonMod(u0, 4)");
  EXPECT_EQ(to_string(parse("(s0 + 3) // 4")), "((s0 + 3)//4)");
  EXPECT_EQ(to_string(parse("max(1, u0)")), "Max(1, u0)");
  EXPECT_EQ(to_string(parse("not (s0 < 3 or u0 > 2)")), "~((u0 > 2) | (s0 < 3))");
  EXPECT_EQ(to_string(parse("-s0**2")), "-s0**2");
  EXPECT_EQ(to_string(parse("2**-1")), "1/2");
  EXPECT_EQ(to_string(parse("-2**2")), "-4");
  EXPECT_EQ(to_string(parse("u0 << 3")), "8*u0");
  EXPECT_EQ(to_string(parse("math.floor(s0 / 2)")), "FloorToInt(s0/2)");
}

TEST(Parse, SourcesOfGuardsAreSymbols) {
  const Expr guard = parse("((2*L['x'].size()[0]) % (1 + ((-4) + L['args'][0].size()[1]) // 2)) != 0");
  EXPECT_EQ(free_symbols(guard).size(), 2u);
  EXPECT_EQ(to_string(parse("L['x'].size()[1] > 8 and L['x'].storage_offset() == 0")),
            "Eq(L['x'].storage_offset(), 0) & (L['x'].size()[1] > 8)");
  EXPECT_EQ(to_srepr(parse("L['x'].stride()[0]")),
            "Symbol(\"L['x'].stride()[0]\", integer=True, nonnegative=True)");
  EXPECT_EQ(parse(to_srepr(guard)), guard);
  EXPECT_EQ(parse_error("L['x"), "corrupt: byte 1: a '[' is not closed");
}

TEST(Parse, SymbolsComeFromTheLookupFirst) {
  const SymbolLookup lookup = [](std::string_view name) -> std::optional<Expr> {
    if (name == "s0") return symbol("s0", {{Fact::kInteger, true}});
    return std::nullopt;
  };
  EXPECT_EQ(to_srepr(parse("s0", lookup)), "Symbol('s0', integer=True)");
  EXPECT_EQ(to_srepr(parse("s1", lookup)), "Symbol('s1', positive=True, integer=True)");
  EXPECT_EQ(to_srepr(parse("zuf0", lookup)), "Symbol('zuf0', real=True)");
}

TEST(Parse, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(parse_error(""), "corrupt: byte 0: expected an expression, found the end of the text");
  EXPECT_EQ(parse_error("s0 +"), "corrupt: byte 4: expected an expression, found the end of the text");
  EXPECT_EQ(parse_error("s0 s1"), "corrupt: byte 3: expected an operator or the end of the text, found 's1'");
  EXPECT_EQ(parse_error("(s0"), "corrupt: byte 3: expected ')', found the end of the text");
  EXPECT_EQ(parse_error("s0 ? 2"), "corrupt: byte 3: expected an expression, found '?'");
  EXPECT_EQ(parse_error("Symbol('s0"), "corrupt: byte 7: a quoted name does not end");
  EXPECT_EQ(parse_error("Symbol('s0', huge=True)"),
            "corrupt: byte 23: 'huge' is no assumption about a symbol");
  EXPECT_EQ(parse_error("FloorDiv(s0, 0)"), "corrupt: byte 15: FloorDiv: division by zero");
  EXPECT_EQ(parse_error("Mod(s0)"), "corrupt: byte 7: Mod takes 2 arguments, found 1");
  EXPECT_EQ(parse_error("sqrt(-1)"), "unsupported: byte 8: Pow: the result is not a real number");
  EXPECT_EQ(parse_error("Float('1', precision=100)"),
            "unsupported: byte 25: a float of 100 bits; only doubles (53) are supported");
}

TEST(Parse, DepthAndLengthAreLimited) {
  EXPECT_EQ(parse_error(std::string(100000, '(')).substr(0, 6), "limit:");
  EXPECT_EQ(parse_error(std::string(100000, '-') + "s0").substr(0, 6), "limit:");
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "Max(";
  EXPECT_EQ(parse_error(nested).substr(0, 6), "limit:");
  EXPECT_EQ(parse_error(std::string(kMaxTextLength + 1, ' ')),
            "limit: an expression of 1048577 bytes is longer than the 1048576 allowed");
  // Deep, but within the limit: built, printed and destroyed.
  std::string deep = "s0";
  for (int i = 0; i < 120; ++i) deep = "FloorToInt(IntTrueDiv(" + deep + ", 2))";
  EXPECT_EQ(to_string(parse(deep)).size(), deep.size());
}

// 60 kB of every shape that could take quadratic time; each ends within a second or so, with a result or a
// limit.
TEST(Parse, HostileTextEndsSoon) {
  const auto repeat = [](std::string_view head, const std::function<std::string(int)>& item,
                         std::string_view tail) {
    std::string text(head);
    for (int i = 0; text.size() < 60000; ++i) text += item(i);
    return text + std::string(tail);
  };
  const auto number = [](int i) { return std::to_string(i); };
  for (const std::string& text : {
           repeat(
               "Max(1", [&](int i) { return ", u" + number(i); }, ")"),
           repeat(
               "Max(1", [&](int i) { return ", Min(u0, u" + number(i) + ")"; }, ")"),
           repeat(
               "(u0 < 1)", [&](int i) { return " | (u" + number(i) + " < 2)"; }, ""),
           repeat(
               "(u0 < 1)", [&](int i) { return " & (u" + number(i) + " < 2)"; }, ""),
           repeat(
               "u0 < 1", [&](int i) { return " or u" + number(i) + " < 2"; }, ""),
           repeat(
               "1", [&](int i) { return "*u0**u" + number(i); }, ""),
           repeat(
               "1", [&](int i) { return "*2**u" + number(i); }, ""),
           repeat(
               "1", [&](int i) { return "*sqrt(" + number(2 * i + 1000003) + ")"; }, ""),
           repeat(
               "1", [&](int i) { return "+sqrt(" + number(2 * i + 1000003) + ")"; }, ""),
           repeat(
               "1", [&](int i) { return "*(s0 + " + number(i + 1) + ")"; }, ""),
           repeat(
               "Piecewise((1, u0 > 1)", [&](int i) { return ", (1, u0 > " + number(i) + ")"; }, ")"),
           repeat(
               "FloorDiv(s0", [&](int i) { return " + s" + number(i) + "*s7"; }, ", 2*s7*s8)"),
           repeat(
               "s0", [&](int i) { return " < s" + number(i); }, ""),
           repeat(
               "s0", [&](int i) { return "//s" + number(i); }, ""),
           repeat(
               "foo(1", [&](int i) { return ", " + number(i); }, ")"),
       }) {
    try {
      to_srepr(parse(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kLimit) << error.what();
    }
  }
}

TEST(Parse, LongSumsTakeLinearTime) {
  std::string text = "0";
  for (int i = 0; i < 5000; ++i) text += " + s" + std::to_string(i) + "*" + std::to_string(i + 2);
  const Expr sum = parse(text);
  EXPECT_EQ(sum.args().size(), 5000u);
  EXPECT_EQ(parse(to_string(sum)), sum);
}

}  // namespace
}  // namespace flambeau::symbolic
