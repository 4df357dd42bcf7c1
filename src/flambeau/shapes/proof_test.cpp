#include "flambeau/shapes/proof.h"

#include <gtest/gtest.h>

#include "flambeau/symbolic/text/parse.h"

namespace flambeau::trace {
namespace {

using symbolic::Number;
using symbolic::ValueRange;

bool is_known(const char* condition, int64_t least = 2) {
  return is_proved(symbolic::parse(condition), [&](std::string_view) -> std::optional<ValueRange> {
    return ValueRange(Number(least), Number::int_infinity());
  });
}

TEST(Proof, ProvesWhatIsTrueOfQuotients) {
  EXPECT_TRUE(is_known("(s0//2) <= s0"));
  EXPECT_TRUE(is_known("s0 - (s0//2) >= 0"));
  EXPECT_TRUE(is_known("2*(s0//2) <= s0"));
  EXPECT_TRUE(is_known("s0 - 2*(s0//2) < 2"));
  EXPECT_TRUE(is_known("((s0 + 1)//2) <= s0"));
  EXPECT_TRUE(is_known("(s0//2) + ((s0 + 1)//2) >= s0 - 1"));
  EXPECT_TRUE(is_known("(s0//4) <= (s0//2)"));
  EXPECT_TRUE(is_known("(s0//3) + (s0//3) + (s0//3) <= s0"));
  EXPECT_TRUE(is_known("3*((s0 + 2)//3) >= s0"));
  EXPECT_TRUE(is_known("(s0//2) >= 1"));
  EXPECT_TRUE(is_known("((s0 - 1)//2) + 1 <= s0"));
}

TEST(Proof, ProvesWhatIsTrueOfOtherFunctions) {
  EXPECT_TRUE(is_known("Mod(s0, 4) <= 3"));
  EXPECT_TRUE(is_known("s0 - Mod(s0, 8) >= 0"));
  EXPECT_TRUE(is_known("Max(s0, s1) >= s0"));
  EXPECT_TRUE(is_known("Min(s0, s1) <= s1"));
  EXPECT_TRUE(is_known("Max(s0, 5) <= s0 + 5"));
  EXPECT_TRUE(is_known("s0*s1 + s0 >= s0*s1"));
  EXPECT_TRUE(is_known("Ne(s0 + s1, s0)"));
}

TEST(Proof, SaysNothingOfWhatIsNotAlwaysSo) {
  EXPECT_FALSE(is_known("(s0//2) >= 2"));
  EXPECT_FALSE(is_known("2*(s0//2) >= s0"));
  EXPECT_FALSE(is_known("Eq(Mod(s0, 2), 0)"));
  EXPECT_FALSE(is_known("s0 <= s1"));
  EXPECT_FALSE(is_known("Max(s0, s1) <= s0"));
  EXPECT_FALSE(is_known("(s0//2) >= 1", 1));
  EXPECT_FALSE(is_known("(s0 - 1)//2 >= 1"));
  EXPECT_FALSE(is_known("9223372036854775807*s0 >= s1"));
}

}  // namespace
}  // namespace flambeau::trace
