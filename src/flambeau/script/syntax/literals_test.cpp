#include "flambeau/script/syntax/literals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flambeau/base/error.h"

namespace flambeau::script::syntax {
namespace {

TEST(Literals, ReadsNumbers) {
  EXPECT_EQ(read_number("12", {}), Number(int64_t{12}));
  EXPECT_EQ(read_number("-9223372036854775808", {}), Number(INT64_MIN));
  EXPECT_EQ(read_number("9223372036854775807", {}), Number(INT64_MAX));
  EXPECT_THROW(read_number("9223372036854775808", {}), Error);
  EXPECT_EQ(read_number("0x1F", {}), Number(int64_t{31}));
  EXPECT_EQ(read_number("010", {}), Number(int64_t{8}));
  EXPECT_THROW(read_number("08", {}), Error);
  EXPECT_EQ(read_number("-1.5", {}), Number(-1.5));
  EXPECT_EQ(read_number("1.", {}), Number(1.0));
  EXPECT_EQ(read_number(".5", {}), Number(0.5));
  EXPECT_EQ(read_number("0x1p3", {}), Number(8.0));
  EXPECT_EQ(read_number("1e999", {}), Number(INFINITY));
  EXPECT_EQ(read_number("1e-999", {}), Number(0.0));
  EXPECT_TRUE(std::signbit(std::get<double>(read_number("-0.", {}))));
  EXPECT_EQ(read_number("2j", {}), Number(std::complex<double>(0, 2)));
}

TEST(Literals, ReadsStrings) {
  EXPECT_EQ(read_string(R"('a\n\t\\\'\"\101\377')", {}), "a\n\t\\'\"A\xff");
  EXPECT_EQ(read_string("\"\"\"a\"b\"\"\"", {}), "a\"b");
  EXPECT_EQ(read_string("''", {}), "");
  for (const char* text : {"'\\x41'", "'\\u1234'", "'\\r'", "'\\8'", "'\\400'", "'\\12'"}) {
    EXPECT_THROW(read_string(text, {}), Error) << text;
  }
}

}  // namespace
}  // namespace flambeau::script::syntax
