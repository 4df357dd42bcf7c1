#include "flambeau/base/error.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "flambeau/base/utf8.h"

namespace flambeau {
namespace {

TEST(Error, SaysWhereOutermostFirst) {
  Error error(ErrorCode::kCorrupt, "found 3 sizes, expected 2", "save the file again");
  error.add_location("byte", "17").add_location("record", "data.pkl").add_location("file", "model.pt");
  EXPECT_STREQ(error.what(),
               "model.pt: record 'data.pkl': byte 17: found 3 sizes, expected 2 (save the file again)");
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error.message(), "found 3 sizes, expected 2");
  EXPECT_EQ(error.remedy(), "save the file again");
  ASSERT_EQ(error.locations().size(), 3U);
  EXPECT_EQ(error.locations()[0].kind, "file");
  EXPECT_EQ(error.locations()[2].value, "17");
}

TEST(Error, SaysOnlyTheMessageWhenThatIsAll) {
  EXPECT_STREQ(Error(ErrorCode::kLimit, "too deep").what(), "too deep");
  EXPECT_STREQ(Error(ErrorCode::kLimit, "too deep").set_remedy("raise the limit").what(),
               "too deep (raise the limit)");
}

TEST(Error, MakesHostileLocationsPrintable) {
  Error error(ErrorCode::kCorrupt, "bad");
  error.add_location("record", "a\nb\x1b[2J").add_location("file", "x\ty");
  EXPECT_STREQ(error.what(), "x\\x09y: record 'a\\x0ab\\x1b[2J': bad");
}

TEST(Error, GainsLocationsOnItsWayOut) {
  try {
    with_location("file", "m.pt", [] {
      with_location("record", "version", [] { throw Error(ErrorCode::kUnsupported, "version 99"); });
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "m.pt: record 'version': version 99");
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  }
}

TEST(Error, WithLocationPassesResultsAndReferencesThrough) {
  int value = 1;
  int& same = with_location("file", "f", [&]() -> int& { return value; });
  EXPECT_EQ(&same, &value);
  EXPECT_EQ(with_location("file", "f", [] { return std::string("text"); }), "text");
}

TEST(Error, HasAStableNameForEveryCode) {
  const std::array names = {"invalid_argument", "corrupt", "unsupported", "unsafe",
                            "not_found",        "io",      "limit",       "cancelled",
                            "internal"};
  std::set<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(error_code_name(static_cast<ErrorCode>(i)), names[i]);
    seen.insert(error_code_name(static_cast<ErrorCode>(i)));
  }
  EXPECT_EQ(seen.size(), names.size());
}

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("layer1.weight"), "layer1.weight");
  EXPECT_EQ(printable("größe 重み 🔥"), "größe 重み 🔥");
}

TEST(Printable, EscapesWhatCouldSteerATerminal) {
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x1b[31m\x7f\r\n"), "\\x1b[31m\\x7f\\x0d\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b");  // the one-character form of ESC [
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(Printable, EscapesWhatCouldPoseAsAnotherName) {
  EXPECT_EQ(printable("a\u202eb"), "a\\u202eb");
  EXPECT_EQ(printable("\u2028\u2066\u200b\ufeff"), "\\u2028\\u2066\\u200b\\ufeff");
  EXPECT_EQ(printable("\u2027\u202f\u2065\u206a"), "\u2027\u202f\u2065\u206a");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong '/'
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("ab\xe2\x82"), "ab\\xe2\\x82");       // cut short
}

TEST(Printable, CutsLongText) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable(std::string(1000, 'x')), std::string(120, 'x') + "...");
  EXPECT_EQ(printable("ää", 3), "ää");  // never inside of a character
}

TEST(Error, ALineIsShortAndKeepsItsRemedy) {
  Error error(ErrorCode::kNotFound, std::string(5000, 'm'), "give the file again");
  error.add_location("file", "/" + std::string(300, 'd') + "/model.pt");
  const std::string text = error.what();
  EXPECT_LE(text.size(), 480U);
  EXPECT_TRUE(text.ends_with("mmm... (give the file again)")) << text;
  EXPECT_NE(text.find("/model.pt: mmm"), std::string::npos) << text;
  EXPECT_EQ(error.message().size(), 5000U);
}

TEST(Error, ALongRemedyIsCutLast) {
  const std::string text =
      Error(ErrorCode::kNotFound, "no such input", "there are " + std::string(5000, 'x')).what();
  EXPECT_LE(text.size(), 480U);
  EXPECT_TRUE(text.starts_with("no such input (there are xxx")) << text;
  EXPECT_TRUE(text.ends_with("xxx...)")) << text;
}

TEST(Error, NoCharacterIsCutInTwo) {
  std::string message;
  for (int i = 0; i < 1000; ++i) message += "\xc3\xa4";
  for (size_t extra = 0; extra < 4; ++extra)
    EXPECT_TRUE(is_valid_utf8(Error(ErrorCode::kCorrupt, std::string(extra, 'x') + message, "again").what()));
}

}  // namespace
}  // namespace flambeau
