#include "flambeau/symbolic/forms/solve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

std::string solved(const std::string& relation, const std::string& part, bool opens_division = true) {
  const auto solution = solve_for(parse(relation), parse(part), opens_division);
  if (!solution) return "none";
  const char* const names[] = {"==", "!=", "<", "<=", ">", ">="};
  const auto index = static_cast<int>(solution->kind) - static_cast<int>(Kind::kEq);
  return fmt::format("{} {}", names[index], to_string(solution->right));
}

TEST(Solve, MovesTermsAndFactors) {
  EXPECT_EQ(solved("Eq(2*s0 + 4, s1)", "s0"), "== s1/2 - 2");
  EXPECT_EQ(solved("Eq(2*s0 + 4, s1)", "s1"), "== 2*s0 + 4");
  EXPECT_EQ(solved("3 - s0 < s1", "s0"), "> 3 - s1");
  EXPECT_EQ(solved("s0*s1 <= 8", "s0"), "<= 8/s1");
  EXPECT_EQ(solved("u0*u1 <= 8", "u0"), "none");  // the sign of u1 is not known
}

TEST(Solve, GivesUp) {
  EXPECT_EQ(solved("s0 < 2*s0", "s1"), "none");
  EXPECT_EQ(solved("Eq(s0**2, s1)", "s0"), "none");
  EXPECT_EQ(solved("Eq(Max(s0, s1), 3)", "s0"), "none");
}

TEST(Solve, OpensDivisions) {
  EXPECT_EQ(solved("s0//4 > 2", "s0"), ">= 12");
  EXPECT_EQ(solved("s0//4 <= 2", "s0"), "< 12");
  EXPECT_EQ(solved("Eq(s0//4, 0)", "s0"), "< 4");
  EXPECT_EQ(solved("Eq(s0//4, 3)", "s0"), "none");
  EXPECT_EQ(solved("s0//4 > 2", "s0", false), "none");
  EXPECT_EQ(solved("Eq(Mod(s0, 3), 0)", "Mod(s0, 3)", false), "== 0");
}

}  // namespace
}  // namespace flambeau::symbolic
