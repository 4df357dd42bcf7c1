#include "flambeau/base/size.h"

#include <gtest/gtest.h>

#include <limits>

#include "flambeau/base/error.h"
#include "support/message_of.h"

namespace flambeau {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr const char* kOverflow =
    "a size or an index does not fit in 64 bits (give smaller sizes, strides, paddings or counts)";

TEST(Size, ComputesAsNumbersDo) {
  EXPECT_EQ(Size(7) + 3, 10);
  EXPECT_EQ(3 - Size(7), -4);
  EXPECT_EQ(Size(7) * size_t{3}, 21);
  EXPECT_EQ(Size(-7) / 2, -3);
  EXPECT_EQ(Size(-7) % 2, -1);
  EXPECT_EQ(floor_div(Size(-7), 2), -4);
  EXPECT_EQ(modulo(Size(-7), 2), 1);
  EXPECT_EQ(modulo(Size(7), -2), -1);
  EXPECT_EQ(round_div(Size(5), 2), 2);
  EXPECT_EQ(round_div(Size(7), 2), 4);
  EXPECT_EQ(round_div(Size(-5), 2), -2);
  EXPECT_EQ(max(Size(1), 2), 2);
  EXPECT_EQ(min(1, Size(2)), 1);
  EXPECT_LT(Size(1), 2);
  EXPECT_EQ(truncated_size(-2.9), -2);
}

TEST(Size, RefusesWhatWraps) {
  const auto message = [](auto&& body) { return message_of([&] { static_cast<void>(body()); }); };
  EXPECT_EQ(message([] { return Size(kMost) + 1; }), kOverflow);
  EXPECT_EQ(message([] { return Size(kLeast) - 1; }), kOverflow);
  EXPECT_EQ(message([] { return 2 * Size(kMost); }), kOverflow);
  EXPECT_EQ(message([] { return -Size(kLeast); }), kOverflow);
  EXPECT_EQ(message([] { return Size(kLeast) / -1; }), kOverflow);
  EXPECT_EQ(message([] { return Size(kLeast) % -1; }), kOverflow);
  EXPECT_EQ(message([] { return Size(std::numeric_limits<uint64_t>::max()); }), kOverflow);
  EXPECT_EQ(message([] { return truncated_size(0x1p63); }), kOverflow);
  EXPECT_EQ(message([] { return truncated_size(std::numeric_limits<double>::quiet_NaN()); }), kOverflow);
  EXPECT_EQ(message([] { return Size(1) / 0; }), "division of a size by zero");
  EXPECT_EQ(message([] { return floor_div(Size(1), 0); }), "division of a size by zero");
}

// What would go on with a plain integer does not compile.
template <typename A, typename B>
concept Decays =
    requires(A a, B b) { a += b; } || requires(A a, B b) { a -= b; } || requires(A a, B b) { a *= b; } ||
    requires(A a, B b) { a /= b; } || requires(A a, B b) { a %= b; } || requires(A a, B b) { a << b; } ||
    requires(A a, B b) { a >> b; } || requires(A a, B b) { a & b; } || requires(A a, B b) { a | b; } ||
    requires(A a, B b) { a ^ b; } || requires(B b) { ~b; };
static_assert(!Decays<int64_t&, Size> && !Decays<int&, Size> && !Decays<size_t&, Size>);
static_assert(Decays<int64_t&, int>);
template <typename A, typename B>
concept StaysChecked = requires(A a, B b) {
  { a + b } -> std::same_as<Size>;
  { a - b } -> std::same_as<Size>;
  { a* b } -> std::same_as<Size>;
  { a / b } -> std::same_as<Size>;
  { a % b } -> std::same_as<Size>;
};
static_assert(StaysChecked<Size, int64_t> && StaysChecked<int, Size> && StaysChecked<size_t, Size> &&
              StaysChecked<Size, Size>);
template <typename A>
concept HasBits = requires(A a) { a << 1; } || requires(A a) { 1 >> a; } || requires(A a) { a & 1; } ||
                  requires(A a) { a | 1; } || requires(A a) { 1 ^ a; };
static_assert(!HasBits<Size> && HasBits<int64_t>);

TEST(Size, IsTheSameNumbersInAList) {
  const int64_t numbers[] = {1, 2, 3};
  const std::span<const Size> sizes = checked(numbers);
  EXPECT_EQ(sizes[2], 3);
  EXPECT_EQ(plain(sizes).data(), numbers);
}

}  // namespace
}  // namespace flambeau
