#include "flambeau/archive/json/cursor.h"

#include <gtest/gtest.h>

namespace flambeau::json {
namespace {

TEST(JsonCursor, GoesThroughObjectsAndArrays) {
  Cursor cursor(R"( {"a": [1, {"x": 2}, "three"], "b": {}, "c": [], "d": null} )");
  std::vector<std::string> seen;
  ASSERT_TRUE(cursor.at_object());
  cursor.object([&](const std::string& key) {
    seen.push_back(key);
    if (key == "a") {
      ASSERT_TRUE(cursor.at_array());
      cursor.array([&] { seen.push_back(dump(cursor.shallow())); });
    } else {
      seen.push_back(dump(cursor.shallow()));
    }
  });
  cursor.finish();
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "1", "{}", "\"three\"", "b", "{}", "c", "[]", "d", "null"}));
}

TEST(JsonCursor, SkipsWhatItDoesNotKeepAsStrictlyAsItReads) {
  for (const std::string_view text :
       {"[1,]", "{\"a\":[tru]}", "[\"\\x\"]", "[\"\xff\"]", "{\"a\" 1}", "[01]", "["}) {
    std::string skipping, parsing;
    try {
      Cursor cursor(text);
      cursor.shallow();
    } catch (const Error& error) {
      skipping = error.what();
    }
    try {
      parse(text);
    } catch (const Error& error) {
      parsing = error.what();
    }
    EXPECT_FALSE(skipping.empty());
    EXPECT_EQ(skipping, parsing) << text;
  }
}

TEST(JsonCursor, SaysWhatFollowsTheEnd) {
  Cursor cursor("1 2");
  cursor.shallow();
  try {
    cursor.finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "byte 2: '2' after the end of the JSON value");
  }
}

}  // namespace
}  // namespace flambeau::json
