#include "flambeau/symbolic/forms/condition.h"

#include <gtest/gtest.h>

#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

std::string canonical(const std::string& text) { return to_string(canonical_condition(parse(text))); }

TEST(Condition, MovesTermsToWhereTheyArePositive) {
  EXPECT_EQ(canonical("4 - 2*u0 > 0"), "u0 < 2");
  EXPECT_EQ(canonical("u0 >= 2"), "2 <= u0");
  EXPECT_EQ(canonical("u0 > u1"), "u1 < u0");
  EXPECT_EQ(canonical("Eq(u0 - u1, 0)"), "Eq(u0, u1)");
  EXPECT_EQ(canonical("6*u0 + 4*u1 <= 8"), "3*u0 + 2*u1 <= 4");
  EXPECT_EQ(canonical("Ne(-u0, 3)"), "Ne(0, u0 + 3)");
}

TEST(Condition, GoesIntoConjunctiveForm) {
  EXPECT_EQ(canonical("Or(And(u0 > 1, u1 > 2), u2 > 3)"), "((1 < u0) | (3 < u2)) & ((2 < u1) | (3 < u2))");
  EXPECT_EQ(canonical("Not(And(u0 > 1, u1 > 2))"), "(u0 <= 1) | (u1 <= 2)");
}

TEST(Condition, Expands) {
  const auto expanded = [](const std::string& text) { return to_string(expand(parse(text))); };
  EXPECT_EQ(expanded("(u0 + 1)*(u1 + 2)"), "u0*u1 + 2*u0 + u1 + 2");
  EXPECT_EQ(expanded("(u0 + 1)**2"), "u0**2 + 2*u0 + 1");
  EXPECT_EQ(expanded("u0*(u1 + 2) < 3"), "u0*u1 + 2*u0 < 3");
}

TEST(Condition, KnowsWhatFollows) {
  const auto follows = [](const std::string& fact, const std::string& question) -> std::string {
    const Expr wanted = canonical_condition(parse(question));
    for (const auto& [form, value] : implications(parse(fact)))
      if (form == wanted) return value ? "true" : "false";
    return "unknown";
  };
  EXPECT_EQ(follows("u0 < u1", "u0 <= u1"), "true");
  EXPECT_EQ(follows("u0 < u1", "u1 > u0"), "true");
  EXPECT_EQ(follows("u0 < u1", "Eq(u0, u1)"), "false");
  EXPECT_EQ(follows("u0 < u1", "u0 >= u1"), "false");
  EXPECT_EQ(follows("u0 < u1", "u0 + 1 <= u1"), "true");
  EXPECT_EQ(follows("Eq(u0, u1)", "Ne(u1, u0)"), "false");
  EXPECT_EQ(follows("Eq(u0, u1)", "u0 <= u1"), "true");
  EXPECT_EQ(follows("u0 <= u1", "u0 < u1 + 1"), "true");
  EXPECT_EQ(follows("u0 <= u1", "u0 < u1"), "unknown");
}

}  // namespace
}  // namespace flambeau::symbolic
