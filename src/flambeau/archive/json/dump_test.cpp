#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"

namespace flambeau::json {
namespace {

std::string golden(const std::string& name) {
  std::ifstream file(std::string(FLAMBEAU_GOLDEN_DIR) + "/json/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(JsonDump, CompactAsPython) {
  const std::string text = golden("compact.jsonl");
  size_t lines = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    EXPECT_EQ(dump(parse(line)), line);
    at = end + 1;
  }
  EXPECT_EQ(lines, 28U);
}

TEST(JsonDump, IndentedAsPython) {
  for (const int indent : {0, 1, 2, 4}) {
    const std::string text = golden("indent" + std::to_string(indent) + ".json");
    EXPECT_EQ(dump(parse(text), indent), text);
  }
}

TEST(JsonDump, FloatsAsPythonsRepr) {
  const std::string text = golden("floats.tsv");
  size_t lines = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    uint64_t bits = 0;
    std::from_chars(text.data() + at, text.data() + at + 16, bits, 16);
    const size_t end = text.find('\n', at);
    const std::string repr = text.substr(at + 17, end - at - 17);
    EXPECT_EQ(dump(Value(std::bit_cast<double>(bits))), repr);
    EXPECT_EQ(std::bit_cast<uint64_t>(parse(repr).as_double()), bits) << repr;
    at = end + 1;
  }
  EXPECT_EQ(lines, 600U);
}

TEST(JsonDump, SurrogatesComeOutAsPythonWritesThem) {
  EXPECT_EQ(dump(Value("a\xed\xa0\x80z")), "\"a\\ud800z\"");  // json.dumps("a\ud800z")
}

TEST(JsonDump, RefusesTextThatIsNotUtf8) {
  try {
    dump(Value("a\xff"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "the text 'a\\xff' is not UTF-8 and cannot be written as JSON");
  }
}

}  // namespace
}  // namespace flambeau::json
