#include "flambeau/shapes/guard_text.h"

#include <gtest/gtest.h>

#include "flambeau/symbolic/text/parse.h"

namespace flambeau::trace {
namespace {

std::string text(const std::string& condition) {
  return guard_text(symbolic::parse(condition), [](const symbolic::Expr& symbol) {
    return "L['x'].size()[" + std::string(symbol.name().substr(1)) + "]";
  });
}

// As PyTorch 2.13 writes them into guards_code.
TEST(GuardText, IsPythonOverSources) {
  EXPECT_EQ(text("Eq(2*s0, s1)"), "(2*L['x'].size()[0]) == L['x'].size()[1]");
  EXPECT_EQ(text("s0 > 3"), "L['x'].size()[0] > 3");
  EXPECT_EQ(text("Ne(s0, 7)"), "L['x'].size()[0] != 7");
  EXPECT_EQ(text("Eq(Mod(s0, 3), 0)"), "(L['x'].size()[0] % 3) == 0");
  EXPECT_EQ(text("s0//2 > 3"), "(L['x'].size()[0] // 2) > 3");
  EXPECT_EQ(text("Eq(2*(s0//2), s0)"), "(2*(L['x'].size()[0] // 2)) == L['x'].size()[0]");
  EXPECT_EQ(text("s0**2 > 10"), "L['x'].size()[0]*L['x'].size()[0] > 10");
  EXPECT_EQ(text("Eq(s0 - 4, s1)"), "((-4) + L['x'].size()[0]) == L['x'].size()[1]");
  EXPECT_EQ(text("Eq(Max(3, s0), 5)"), "max(3, L['x'].size()[0]) == 5");
  EXPECT_EQ(text("And(s0 > 1, s1 > 2)"), "L['x'].size()[0] > 1 and L['x'].size()[1] > 2");
  EXPECT_EQ(text("Eq(8 - s0, 5)"), "(8 + ((-1)*L['x'].size()[0])) == 5");
}

}  // namespace
}  // namespace flambeau::trace
