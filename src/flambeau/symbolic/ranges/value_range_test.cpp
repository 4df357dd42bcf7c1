#include "flambeau/symbolic/ranges/value_range.h"

#include <gtest/gtest.h>

#include <random>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::symbolic {
namespace {

std::string range_text(std::string_view text, const RangeLookup& ranges = {}) {
  return bounds(parse(text), ranges).to_string();
}

TEST(ValueRange, KnownFunctions) {
  const RangeLookup ranges = [](std::string_view name) -> std::optional<ValueRange> {
    if (name == "s0") return ValueRange(2, 10);
    if (name == "u0") return ValueRange(-3, 4);
    return std::nullopt;
  };
  EXPECT_EQ(range_text("s1"), "VR[1, int_oo]");
  EXPECT_EQ(range_text("u1"), "VR[-int_oo, int_oo]");
  EXPECT_EQ(range_text("zf0"), "VR[-oo, oo]");
  EXPECT_EQ(range_text("2*s0 + 1", ranges), "VR[5, 21]");
  EXPECT_EQ(range_text("s0*u0", ranges), "VR[-30, 40]");
  EXPECT_EQ(range_text("u0**2", ranges), "VR[0, 16]");
  EXPECT_EQ(range_text("s0//3", ranges), "VR[0, 3]");
  EXPECT_EQ(range_text("u0//s0", ranges), "VR[-2, 2]");
  EXPECT_EQ(range_text("FloorDiv(s0, u0)", ranges), "VR[-10, 10]");
  EXPECT_EQ(range_text("Mod(s0, 4)", ranges), "VR[0, 3]");
  EXPECT_EQ(range_text("Mod(s0, 16)", ranges), "VR[2, 10]");
  EXPECT_EQ(range_text("PythonMod(u0, 3)", ranges), "VR[0, 2]");
  EXPECT_EQ(range_text("Max(u0, 1)", ranges), "VR[1, 4]");
  EXPECT_EQ(range_text("Min(s0, s1)", ranges), "VR[1, 10]");
  EXPECT_EQ(range_text("Abs(u0)", ranges), "VR[0, 4]");
  EXPECT_EQ(range_text("s0 < 11", ranges), "VR[True, True]");
  EXPECT_EQ(range_text("s0 < 5", ranges), "VR[False, True]");
  EXPECT_EQ(range_text("Eq(s0, 11)", ranges), "VR[False, False]");
  EXPECT_EQ(range_text("Piecewise((1, s0 < 5), (0, True))", ranges), "VR[0, 1]");
  EXPECT_EQ(range_text("Piecewise((s0, s0 < 50), (0, True))", ranges), "VR[2, 10]");
  EXPECT_EQ(range_text("s1*s2"), "VR[1, int_oo]");
  EXPECT_EQ(range_text("s0**2*9223372036854775807", ranges), "VR[9223372036854775807, int_oo]");
}

TEST(ValueRange, SetOperations) {
  const ValueRange a(0, 5);
  const ValueRange b(3, 9);
  EXPECT_EQ(a.intersect(b), ValueRange(3, 5));
  EXPECT_EQ(a.join(b), ValueRange(0, 9));
  EXPECT_EQ(a.intersect(ValueRange::unknown()), a);
  EXPECT_TRUE(a.contains(Number(5)));
  EXPECT_FALSE(a.contains(b));
  EXPECT_THROW(a.intersect(ValueRange(7, 9)), Error);
  EXPECT_THROW(ValueRange(2, 1), Error);
  EXPECT_TRUE(ValueRange::unknown_bool().is_bool());
}

// Random expressions over small ranges: every value of every combination lies within the bounds.
class RandomExpressions {
 public:
  explicit RandomExpressions(uint32_t seed) : random_(seed) {}

  Expr integer(int depth) {
    if (depth == 0)
      return pick(3) == 0 ? Expr(static_cast<int64_t>(pick(9)) - 4) : symbols_[pick(symbols_.size())];
    const Expr a = integer(depth - 1);
    const Expr b = integer(pick(2) == 0 ? 0 : depth - 1);
    switch (pick(16)) {
      case 0:
      case 1:
        return add(a, b);
      case 2:
        return subtract(a, b);
      case 3:
      case 4:
        return mul(a, b);
      case 5:
        return floor_div(a, b);
      case 6:
        return python_mod(a, b);
      case 7:
        return max({a, b});
      case 8:
        return min({a, b});
      case 9:
        return pow(a, Expr(static_cast<int64_t>(2 + pick(2))));
      case 10:
        return abs(a);
      case 11:
        return where(condition(depth - 1), a, b);
      case 12:
        return piecewise({{a, condition(depth - 1)}, {b, boolean(true)}});
      case 13:
        return apply(pick(2) == 0 ? "FloorToInt" : "RoundToInt", {int_true_div(a, b)});
      case 14:
        return apply("ModularIndexing", {a, Expr(static_cast<int64_t>(1 + pick(4))), Expr(3)});
      default:
        return apply(pick(2) == 0 ? "BitwiseFn_bitwise_and" : "BitwiseFn_bitwise_or", {a, b});
    }
  }

  Expr condition(int depth) {
    const Expr a = integer(std::max(depth - 1, 0));
    const Expr b = integer(0);
    switch (pick(7)) {
      case 0:
        return eq(a, b);
      case 1:
        return ne(a, b);
      case 2:
        return lt(a, b);
      case 3:
        return ge(a, b);
      case 4:
        return and_({lt(a, b), ge(b, Expr(0))});
      case 5:
        return or_({gt(a, b), eq(b, Expr(1))});
      default:
        return not_(and_({le(a, b), ne(b, Expr(2))}));
    }
  }

  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

 private:
  std::mt19937 random_;
  std::vector<Expr> symbols_ = {symbol("s0"), symbol("s1"), symbol("u0")};
};

TEST(ValueRange, BoundsHoldEveryValue) {
  RandomExpressions random(7);
  size_t checked = 0;
  size_t built = 0;
  while (built < 3000) {
    Expr expr;
    try {
      expr = random.pick(4) == 0 ? random.condition(2) : random.integer(3);
    } catch (const Error&) {
      continue;  // a division by zero, or powers beyond 64 bits
    }
    ++built;
    const int64_t low0 = 1 + static_cast<int64_t>(random.pick(3));
    const int64_t high0 = low0 + static_cast<int64_t>(random.pick(5));
    const int64_t low2 = static_cast<int64_t>(random.pick(7)) - 4;
    const int64_t high2 = low2 + static_cast<int64_t>(random.pick(6));
    const ValueRange range = bounds(expr, [&](std::string_view name) -> std::optional<ValueRange> {
      if (name == "s0") return ValueRange(low0, high0);
      if (name == "s1") return ValueRange(1, 4);
      return ValueRange(low2, high2);
    });
    for (int64_t s0 = low0; s0 <= high0; ++s0) {
      for (int64_t s1 = 1; s1 <= 4; ++s1) {
        for (int64_t u0 = low2; u0 <= high2; ++u0) {
          Number value;
          try {
            value = evaluate(expr, {{"s0", s0}, {"s1", s1}, {"u0", u0}});
          } catch (const Error&) {
            continue;
          }
          if (value.is_nan()) continue;
          ++checked;
          ASSERT_TRUE(range.contains(value))
              << to_string(expr) << " is " << to_string(Expr(value.numerator())) << " at s0=" << s0
              << " s1=" << s1 << " u0=" << u0 << ", outside " << range.to_string();
        }
      }
    }
  }
  EXPECT_GT(checked, 100000u);
}

}  // namespace
}  // namespace flambeau::symbolic
