#include "flambeau/base/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/files/byte_sink.h"

namespace flambeau {
namespace {

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return error.what();
  }
  return "no error";
}

const std::vector<uint8_t> kEight = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(ByteReader, ReadsNumbersInBothOrders) {
  ByteReader reader(kEight);
  EXPECT_EQ(reader.u8("x"), 1);
  EXPECT_EQ(reader.le<uint16_t>("x"), 0x0302);
  EXPECT_EQ(reader.be<uint32_t>("x"), 0x04050607U);
  EXPECT_EQ(reader.offset(), 7U);
  EXPECT_EQ(reader.remaining(), 1U);
  EXPECT_FALSE(reader.at_end());
  EXPECT_EQ(reader.le<int8_t>("x"), 8);
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReader, ReadsFloats) {
  ByteWriter writer;
  writer.le(1.5F);
  writer.be(-2.25);
  ByteReader reader(writer.view());
  EXPECT_EQ(reader.le<float>("x"), 1.5F);
  EXPECT_EQ(reader.be<double>("x"), -2.25);
}

TEST(ByteReader, SaysWhatIsMissingAndWhere) {
  ByteReader reader(kEight);
  reader.skip(6, "x");
  EXPECT_EQ(error_of([&] { reader.le<uint32_t>("the record count"); }),
            "byte 6: the record count needs 4 bytes, 2 are left");
  EXPECT_EQ(reader.offset(), 6U) << "a failed read must not move";
  EXPECT_EQ(error_of([&] { reader.bytes(3, "the name"); }), "byte 6: the name needs 3 bytes, 2 are left");
  EXPECT_EQ(error_of([&] { reader.bytes(std::numeric_limits<uint64_t>::max(), "the name"); }),
            "byte 6: the name needs 18446744073709551615 bytes, 2 are left");
  EXPECT_EQ(error_of([&] { reader.skip(3, "padding"); }), "byte 6: padding needs 3 bytes, 2 are left");
  reader.skip(2, "x");
  EXPECT_EQ(error_of([&] { reader.u8("the opcode"); }), "byte 8: the opcode needs 1 bytes, 0 are left");
  EXPECT_TRUE(reader.bytes(0, "nothing").empty());
}

TEST(ByteReader, AddsTheBaseToOffsets) {
  ByteReader reader(kEight, 1000);
  reader.skip(8, "x");
  EXPECT_EQ(error_of([&] { reader.u8("x"); }), "byte 1008: x needs 1 bytes, 0 are left");
  EXPECT_EQ(error_of([&] { reader.fail("found this, expected that"); }),
            "byte 1008: found this, expected that");
  EXPECT_EQ(error_of([&] { reader.fail_at(3, "odd"); }), "byte 1003: odd");
  EXPECT_EQ(error_of([&] { reader.seek(9, "the directory"); }),
            "byte 1008: the directory is at byte 1009, past the end at 1008");
}

TEST(ByteReader, SeeksWithinItsBytes) {
  ByteReader reader(kEight);
  reader.seek(8, "x");
  EXPECT_TRUE(reader.at_end());
  reader.seek(2, "x");
  EXPECT_EQ(reader.u8("x"), 3);
  EXPECT_EQ(error_of([&] { reader.seek(std::numeric_limits<uint64_t>::max(), "it"); }),
            "byte 3: it is at byte 18446744073709551615, past the end at 8");
  EXPECT_EQ(reader.offset(), 3U);
}

TEST(ByteReader, ReadsLines) {
  ByteReader reader(as_bytes("one\n\nlast"));
  EXPECT_EQ(reader.line("x"), "one");
  EXPECT_EQ(reader.line("x"), "");
  EXPECT_EQ(error_of([&] { reader.line("the module name"); }), "byte 5: the module name has no end of line");
  EXPECT_EQ(reader.text(4, "x"), "last");
}

TEST(ByteReader, SurvivesNoBytesAtAll) {
  ByteReader reader(ByteSpan{});
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.bytes(0, "x").empty());
  reader.seek(0, "x");
  EXPECT_EQ(error_of([&] { reader.line("x"); }), "byte 0: x has no end of line");
}

TEST(ByteWriter, WritesWhatTheReaderReads) {
  ByteWriter writer;
  writer.u8(0xfe);
  writer.le<uint32_t>(0x01020304);
  writer.be<uint16_t>(0x0506);
  writer.text("ab");
  writer.bytes(kEight);
  writer.fill(2, 'z');
  EXPECT_EQ(writer.size(), 19U);
  EXPECT_EQ(writer.str(), std::string("\xfe\x04\x03\x02\x01\x05\x06"
                                      "ab\x01\x02\x03\x04\x05\x06\x07\x08zz"));
  EXPECT_EQ(writer.take().size(), 19U);
}

TEST(Bytes, SwapsAndLoadsAtAnyAlignment) {
  EXPECT_EQ(byte_swapped<uint8_t>(7), 7);
  EXPECT_EQ(byte_swapped<uint64_t>(0x0102030405060708ULL), 0x0807060504030201ULL);
  EXPECT_EQ(load_le<uint32_t>(kEight.data() + 1), 0x05040302U);
  std::vector<uint8_t> buffer(9);
  store_le<uint64_t>(buffer.data() + 1, 0x0102030405060708ULL);
  EXPECT_EQ(buffer, (std::vector<uint8_t>{0, 8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(MemorySink, AppendsAndCounts) {
  MemorySink sink;
  sink.write_text("abc");
  sink.write({});
  sink.write(kEight);
  EXPECT_EQ(sink.position(), 11U);
  EXPECT_EQ(as_text(sink.buffer()).substr(0, 3), "abc");
  EXPECT_EQ(sink.take().size(), 11U);
}

}  // namespace
}  // namespace flambeau
