#include "flambeau/archive/json/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "flambeau/archive/json/fallback.h"
#include "flambeau/base/error.h"
#include "support/patience.h"

namespace flambeau::json {
namespace {

std::string error_of(std::string_view text, ErrorCode code = ErrorCode::kCorrupt) {
  std::string slow = "no error";
  try {
    parse_slowly(text);
  } catch (const Error& error) {
    slow = error.what();
  }
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.what(), slow);
    return error.what();
  }
  return "no error";
}

TEST(Json, ValuesAreCounted) {
  const auto limit_error = [](const std::string& text, const Limits& limits) -> std::string {
    try {
      parse(text, limits);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kLimit) << error.what();
      return error.what();
    }
    return "no error";
  };
  std::string arrays = "[[]";
  for (int i = 0; i < 999; ++i) arrays += ",[]";
  arrays += "]";
  const uint64_t needed = 1000 * sizeof(Value);
  const std::string error =
      fmt::format("the JSON text has more values than fit into {} bytes, the limit for it", needed - 1);
  EXPECT_EQ(limit_error(arrays, {.bytes = needed - 1}), error);
  EXPECT_EQ(limit_error(arrays, {.bytes = 16 * arrays.size() + needed}), "no error");
  // Also where simdjson is not asked: for text that it refuses, and for much text for the limit.
  EXPECT_EQ(limit_error("[NaN, " + arrays.substr(1), {.bytes = needed - 1}), error);
  EXPECT_EQ(limit_error("{\"key\": \"" + std::string(5000, 'x') + "\"}", {.bytes = 5000}),
            "the JSON text has more values than fit into 5000 bytes, the limit for it");
  EXPECT_EQ(
      limit_error("{\"key\": \"" + std::string(500, 'x') + "\"}", {.bytes = 10'000, .longest_string = 499}),
      "the JSON text has a string of 500 bytes, the limit for it is 499");
  // What comes without limits has those of its size.
  std::string large = "[0";
  while (large.size() < 4'000'000) large += ",0";
  EXPECT_EQ(limit_error(large + "]", Limits::for_text(large.size())).substr(0, 29),
            "the JSON text has more values");
  EXPECT_EQ(parse("[0, 0]").as_array().size(), 2U);
}

TEST(Json, ReadsEveryKindInOrder) {
  const Value value =
      parse(R"( {"z": [null, true, false], "a": {"i": -3, "u": 18446744073709551615, "d": 2.5e1},
                                "s": "x\u00e9\ud83d\ude00\n"} )");
  ASSERT_TRUE(value.is_object());
  EXPECT_EQ(value.as_object()[0].first, "z");
  EXPECT_EQ(value.as_object()[1].first, "a");
  const Array& items = value.find("z")->as_array();
  EXPECT_TRUE(items[0].is_null());
  EXPECT_TRUE(items[1].as_bool());
  EXPECT_FALSE(items[2].as_bool());
  const Value& numbers = *value.find("a");
  EXPECT_EQ(numbers.find("i")->as_int(), -3);
  EXPECT_EQ(numbers.find("u")->as_uint(), 18446744073709551615ULL);
  EXPECT_EQ(numbers.find("d")->as_double(), 25.0);
  EXPECT_EQ(value.find("s")->as_string(), "x\u00e9\U0001f600\n");
  EXPECT_EQ(value.find("absent"), nullptr);
  EXPECT_EQ(items[0].find("x"), nullptr);
}

TEST(Json, KeepsTheKindOfNumbers) {
  EXPECT_TRUE(parse("1").is_integer());
  EXPECT_TRUE(parse("1.0").is_double());
  EXPECT_TRUE(parse("1e2").is_double());
  EXPECT_EQ(parse("-9223372036854775808").as_int(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse("9223372036854775807").as_int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse("7").as_uint(), 7U);
  EXPECT_EQ(parse("7").as_double(), 7.0);
  EXPECT_TRUE(std::signbit(parse("-0.0").as_double()));
}

TEST(Json, ReadsPythonsBareNumbers) {
  const Value value = parse(R"({"a": [NaN, Infinity, -Infinity], "b": 1})");
  EXPECT_TRUE(std::isnan(value.find("a")->as_array()[0].as_double()));
  EXPECT_EQ(value.find("a")->as_array()[1].as_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value.find("a")->as_array()[2].as_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(value.find("b")->as_int(), 1);
}

TEST(Json, BothReadersAgree) {
  for (const std::string_view text : {"0",
                                      "-0",
                                      "1e5",
                                      "1E+5",
                                      "1.5e-5",
                                      "123456789012345678901234567890.5",
                                      "1e-400",
                                      "-1e-400",
                                      "0e999999999999",
                                      "0.0000000000000000000000000000000000000001e-400",
                                      "1e308",
                                      "[]",
                                      "{}",
                                      "[[],{}]",
                                      "\t\r\n [1 , 2]\n",
                                      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uffff\\ud834\\udd1e\"",
                                      "\"\xc3\xa9\xf0\x9f\x98\x80\x7f\"",
                                      "true",
                                      "null",
                                      "{\"a\":{\"b\":[1,{\"c\":\"d\"}]}}",
                                      "4.9406564584124654e-324",
                                      "2.4703282292062328e-324",
                                      "2.4e-324"}) {
    EXPECT_EQ(dump(parse(text)), dump(parse_slowly(text))) << text;
  }
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of(""), "byte 0: the text is empty, a JSON value was expected");
  EXPECT_EQ(error_of("  "), "byte 2: the text is empty, a JSON value was expected");
  EXPECT_EQ(error_of("[1 2]"), "byte 3: expected ',' or ']' in an array, found '2'");
  EXPECT_EQ(error_of("[1,]"), "byte 3: expected a JSON value, found ']'");
  EXPECT_EQ(error_of("{\"a\":1"), "byte 6: expected ',' or '}' in an object, found the end of the text");
  EXPECT_EQ(error_of("{a:1}"), "byte 1: expected a key in quotes, found 'a'");
  EXPECT_EQ(error_of("{\"a\" 1}"), "byte 5: expected ':' after a key, found '1'");
  EXPECT_EQ(error_of("{} {}"), "byte 3: '{' after the end of the JSON value");
  EXPECT_EQ(error_of("nul"), "byte 0: expected a JSON value, found 'n'");
  EXPECT_EQ(error_of("\"abc"), "byte 0: a string has no closing quote");
  EXPECT_EQ(error_of("\"a\nb\""), "byte 2: a control character in a string is not escaped");
  EXPECT_EQ(error_of("\"a\xff\""), "byte 2: a string is not valid UTF-8");
  EXPECT_EQ(error_of("\"\\x\""), "byte 1: a string has an unknown escape");
  EXPECT_EQ(error_of("\"\\u12g4\""), "byte 1: \\u needs four hexadecimal digits");
  EXPECT_EQ(error_of("\"\\ud800\""), "byte 1: a string has half of a surrogate pair");
  EXPECT_EQ(error_of("\"\\udc00x\""), "byte 1: a string has half of a surrogate pair");
  EXPECT_EQ(error_of("01"), "byte 0: a number starts with a superfluous zero");
  EXPECT_EQ(error_of("-"), "byte 0: a number has no digits");
  EXPECT_EQ(error_of("1."), "byte 0: a number has no digits after its point");
  EXPECT_EQ(error_of("[1e+]"), "byte 1: a number has no digits after its exponent");
  EXPECT_EQ(error_of("[18446744073709551616]"),
            "byte 1: the integer 18446744073709551616 does not fit in 64 bits");
  EXPECT_EQ(error_of("-9223372036854775809"),
            "byte 0: the integer -9223372036854775809 does not fit in 64 bits");
  EXPECT_EQ(error_of("1e400"), "byte 0: the number 1e400 is too large");
  EXPECT_EQ(error_of("-1e99999999999999999999"), "byte 0: the number -1e99999999999999999999 is too large");
  EXPECT_EQ(error_of("\xef\xbb\xbf{}"), "byte 0: expected a JSON value, found '\\ufeff'");
  EXPECT_EQ(error_of(std::string_view("[1]\0", 4)), "byte 3: '\\x00' after the end of the JSON value");
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_EQ(error_of(R"({"a": 1, "b": {"x": 1, "x": 2}})"), "a JSON object has the key \"x\" more than once");
  EXPECT_EQ(error_of(R"({"a": 1, "\u0061": 2})"), "a JSON object has the key \"a\" more than once");
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i % 99) + "\": 0, ";
  many += "\"last\": 0}";
  EXPECT_EQ(error_of(many), "a JSON object has the key \"k0\" more than once");
}

TEST(Json, LimitsTheDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(dump(parse(nested(512))), nested(512));
  EXPECT_EQ(dump(parse_slowly(nested(512))), nested(512));
  EXPECT_EQ(error_of(nested(513), ErrorCode::kLimit), "byte 512: JSON nested deeper than 512 levels");
  EXPECT_EQ(error_of(std::string(1'000'000, '['), ErrorCode::kLimit),
            "byte 512: JSON nested deeper than 512 levels");
}

TEST(Json, LargeObjectsTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"key" + std::to_string(i) + "\": 0, ";
  text += "\"last\": NaN}";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(text).as_object().size(), 200'001U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10) * patience());
}

TEST(Json, NamesTheKindThatWasExpected) {
  const auto message = [](auto&& ask) -> std::string {
    try {
      ask();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([] { parse("1").as_bool(); }), "expected a boolean, found the integer 1");
  EXPECT_EQ(message([] { parse("1.5").as_int(); }), "expected a 64-bit integer, found the number 1.5");
  EXPECT_EQ(message([] { parse("NaN").as_int(); }), "expected a 64-bit integer, found the number NaN");
  EXPECT_EQ(message([] { parse("9223372036854775808").as_int(); }),
            "expected a 64-bit integer, found the integer 9223372036854775808");
  EXPECT_EQ(message([] { parse("-1").as_uint(); }),
            "expected an integer that is not negative, found the integer -1");
  EXPECT_EQ(message([] { parse("true").as_double(); }), "expected a number, found a boolean");
  EXPECT_EQ(message([] { parse("null").as_string(); }), "expected a string, found null");
  EXPECT_EQ(message([] { parse("{}").as_array(); }), "expected an array, found an object");
  EXPECT_EQ(message([] { parse("[]").as_object(); }), "expected an object, found an array");
  EXPECT_EQ(message([] { Value("x").set("a", 1); }), "expected an object, found a string");
  EXPECT_EQ(message([] { Value(true).push(1); }), "expected an array, found a boolean");
}

TEST(Json, BuildsValues) {
  Value value;
  value.set("name", "x").is_string();
  value.set("items", Value()).push(1);
  EXPECT_EQ(dump(value), R"({"name": "x", "items": [1]})");
}

}  // namespace
}  // namespace flambeau::json
