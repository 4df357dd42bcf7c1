#include "flambeau/base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace flambeau {
namespace {

// The textbook encoding, without any check.
std::string encode(uint32_t point) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F))};
  if (point < 0x10000) {
    return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
  }
  return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 0x3F)), byte(0x80 | (point >> 6 & 0x3F)),
          byte(0x80 | (point & 0x3F))};
}

TEST(Utf8, AcceptsEveryCodePointAndNoSurrogate) {
  for (uint32_t point = 0; point <= 0x10FFFF; ++point) {
    const std::string text = encode(point);
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    ASSERT_EQ(utf8_sequence_length(text), surrogate ? 0 : text.size()) << point;
    ASSERT_EQ(is_valid_utf8(text), !surrogate) << point;
    ASSERT_TRUE(is_valid_utf8_with_surrogates(text)) << point;
  }
  for (uint32_t point = 0x110000; point < 0x1FFFFF; point += 0x111) {
    ASSERT_FALSE(is_valid_utf8(encode(point))) << point;
    ASSERT_FALSE(is_valid_utf8_with_surrogates(encode(point))) << point;
  }
}

TEST(Utf8, RefusesOverlongForms) {
  for (const char* text :
       {"\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf"}) {
    EXPECT_FALSE(is_valid_utf8(text));
    EXPECT_FALSE(is_valid_utf8_with_surrogates(text));
  }
}

TEST(Utf8, RefusesTailsAloneAndCutSequences) {
  for (const char* text : {"\x80", "\xbf", "\xc2", "\xe2\x82", "\xf0\x9f\x94", "\xc2\x41", "\xe2\x41\x80",
                           "\xf5\x80\x80\x80", "\xff", "\xfe"}) {
    EXPECT_FALSE(is_valid_utf8(text));
    EXPECT_EQ(utf8_sequence_length(text), 0U);
  }
}

TEST(Utf8, LooksAtEveryPositionOfALongText) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_EQ(utf8_sequence_length(""), 0U);
  for (size_t length = 1; length < 40; ++length) {
    for (size_t at = 0; at < length; ++at) {
      std::string text(length, 'a');
      EXPECT_TRUE(is_valid_utf8(text));
      text[at] = '\xff';
      EXPECT_FALSE(is_valid_utf8(text)) << length << " " << at;
    }
  }
  EXPECT_TRUE(is_valid_utf8("1234567ä89012345"));  // a sequence across the eight-byte step
}

}  // namespace
}  // namespace flambeau
