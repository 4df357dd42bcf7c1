#include "flambeau/base/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

TEST(Checked, AddsAndMultipliesWithinRange) {
  EXPECT_EQ(checked_add<int64_t>(2, 3, "x"), 5);
  EXPECT_EQ(checked_mul<uint64_t>(1ULL << 32, 1ULL << 31, "x"), 1ULL << 63);
}

TEST(Checked, NamesTheQuantityThatWraps) {
  try {
    checked_mul<int64_t>(int64_t{1} << 62, 2, "the size of a tensor");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the size of a tensor does not fit in a 64-bit number");
  }
  EXPECT_THROW(checked_add<uint64_t>(std::numeric_limits<uint64_t>::max(), 1, "x"), Error);
  EXPECT_THROW(checked_cast<uint32_t>(int64_t{-1}, "x"), Error);
  EXPECT_FALSE(try_add<int64_t>(std::numeric_limits<int64_t>::max(), 1).has_value());
  EXPECT_FALSE(try_mul<uint64_t>(1ULL << 63, 2).has_value());
}

TEST(Checked, NamesTheWidth) {
  try {
    checked_cast<uint32_t>(1ULL << 32, "the record count");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_STREQ(error.what(), "the record count does not fit in a 32-bit number");
  }
  EXPECT_EQ(checked_cast<uint8_t>(255, "x"), 255);
  EXPECT_THROW(checked_cast<int64_t>(1ULL << 63, "x"), Error);
}

}  // namespace
}  // namespace flambeau
