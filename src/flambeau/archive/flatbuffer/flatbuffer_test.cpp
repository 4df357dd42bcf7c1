#include <gtest/gtest.h>

#include <array>

#include "flambeau/archive/flatbuffer/reader.h"
#include "flambeau/archive/flatbuffer/writer.h"
#include "flambeau/base/error.h"

namespace flambeau::flatbuffer {
namespace {

constexpr std::string_view kTest = "TEST";

std::vector<uint8_t> finished(Builder& builder, Built root) {
  MemorySink sink;
  builder.finish(root, kTest, sink);
  return sink.take();
}

// One table: 0 a text, 1 a number, 2 numbers, 3 a table like it, 4 tables, 5 texts, 6 a struct, 7 bytes.
std::vector<uint8_t> sample() {
  Builder builder;
  const Built inner_text = builder.shared_text("inner");
  builder.begin_table();
  builder.field(0, inner_text);
  builder.field<int32_t>(1, -7);
  const Built inner = builder.end_table();
  const std::array<Built, 2> inners{inner, inner};
  const Built tables = builder.offsets(inners);
  const std::array<Built, 2> names{builder.shared_text("a"), builder.shared_text("inner")};
  const Built texts = builder.offsets(names);
  const Built numbers = builder.numbers<int64_t>(std::array<int64_t, 3>{1, -2, int64_t{1} << 40});
  const Built pair = builder.structure(as_bytes("12345678"), 8);
  const Built bytes = builder.blob(as_bytes("0123456789"), 16);
  const Built text = builder.text("outer");
  builder.begin_table();
  builder.field(7, bytes);
  builder.field(6, pair);
  builder.field(5, texts);
  builder.field(4, tables);
  builder.field(3, inner);
  builder.field(2, numbers);
  builder.field(0, text);
  builder.field<int32_t>(1, 0);  // its default: left out
  return finished(builder, builder.end_table());
}

TEST(Flatbuffer, GivesBackWhatWasBuilt) {
  const std::vector<uint8_t> bytes = sample();
  const Buffer buffer(bytes);
  EXPECT_EQ(buffer.identifier(), kTest);
  const Table root = Table::root(buffer);
  EXPECT_EQ(root.text(0, "text"), "outer");
  EXPECT_FALSE(root.has(1));
  EXPECT_EQ(root.number<int32_t>(1, "number", 5), 5);
  const Numbers<int64_t> numbers = root.numbers<int64_t>(2, "numbers");
  ASSERT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers[2], int64_t{1} << 40);
  EXPECT_EQ(root.table(3, "inner").number<int32_t>(1, "number"), -7);
  const Tables tables = root.tables(4, "tables");
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[1].text(0, "text"), "inner");
  const Strings texts = root.texts(5, "texts");
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], "a");
  EXPECT_EQ(as_text(root.structure(6, 8, 8, "pair")), "12345678");
  const ByteSpan blob = root.blob(7, "bytes");
  EXPECT_EQ(as_text(blob), "0123456789");
  EXPECT_EQ((blob.data() - bytes.data()) % 16, 0);
  EXPECT_EQ(root.numbers<int32_t>(20, "absent").size(), 0U);
  EXPECT_FALSE(root.find_table(20, "absent"));
}

TEST(Flatbuffer, SharesFieldListsAndTexts) {
  const auto size_of = [](size_t count) {
    Builder builder;
    std::vector<Built> all;
    for (size_t i = 0; i < count; ++i) {
      const Built text = builder.shared_text("the same");
      builder.begin_table();
      builder.field(0, text);
      all.push_back(builder.end_table());
    }
    return finished(builder, builder.offsets(all)).size();
  };
  // A table of one more, and where it is: the text and the list of fields are there. (Tables that begin
  // behind a list of fields are larger by what aligns them, so that there are two such lists.)
  EXPECT_LE(size_of(9) - size_of(1), 8 * (8 + 4) + 8);
}

// The message for the sample with one byte, or several, changed.
std::string refusal(const std::vector<uint8_t>& bytes) {
  try {
    const Buffer buffer(bytes);
    const Table root = Table::root(buffer);
    root.text(0, "the text");
    root.numbers<int64_t>(2, "the numbers");
    root.table(3, "the table");
    root.texts(5, "the texts");
    root.blob(7, "the bytes");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

uint32_t root_of(const std::vector<uint8_t>& bytes) { return load_le<uint32_t>(bytes.data()); }
uint32_t list_of(const std::vector<uint8_t>& bytes) {
  return root_of(bytes) - static_cast<uint32_t>(load_le<int32_t>(bytes.data() + root_of(bytes)));
}
// Where the root's field says where its value is.
uint32_t field_of(const std::vector<uint8_t>& bytes, uint32_t number) {
  return root_of(bytes) + load_le<uint16_t>(bytes.data() + list_of(bytes) + 4 + 2 * number);
}

TEST(Flatbuffer, RefusesWhatIsTooShort) {
  EXPECT_NE(refusal({1, 2, 3}).find("at least 8 bytes, found 3"), std::string::npos);
  std::vector<uint8_t> cut = sample();
  cut.resize(cut.size() / 2);
  EXPECT_NE(refusal(cut).find("reaches beyond the end of the flatbuffer"), std::string::npos);
}

TEST(Flatbuffer, RefusesBadRootsAndFieldLists) {
  std::vector<uint8_t> bytes = sample();
  EXPECT_EQ(refusal(bytes), "nothing");
  store_le<uint32_t>(bytes.data(), 0xFFFFFFF0U);
  EXPECT_NE(refusal(bytes).find("beyond the end"), std::string::npos);
  store_le<uint32_t>(bytes.data(), 0);
  EXPECT_NE(refusal(bytes).find("the offset of the root table is 0"), std::string::npos);
  store_le<uint32_t>(bytes.data(), 10);
  EXPECT_NE(refusal(bytes).find("does not lie at a multiple of 4"), std::string::npos);
  bytes = sample();
  store_le<int32_t>(bytes.data() + root_of(bytes), 1 << 30);
  EXPECT_NE(refusal(bytes).find("lies before the flatbuffer"), std::string::npos);
  bytes = sample();
  store_le<uint16_t>(bytes.data() + list_of(bytes), 3);
  EXPECT_NE(refusal(bytes).find("cannot have 3 bytes"), std::string::npos);
  bytes = sample();
  store_le<uint16_t>(bytes.data() + list_of(bytes) + 2, 2);
  EXPECT_NE(refusal(bytes).find("a table cannot have 2 bytes"), std::string::npos);
  bytes = sample();
  store_le<uint16_t>(bytes.data() + list_of(bytes) + 4, 0x7000);
  EXPECT_NE(refusal(bytes).find("the text lies outside of its table"), std::string::npos);
}

TEST(Flatbuffer, RefusesBadVectorsAndTexts) {
  std::vector<uint8_t> bytes = sample();
  const uint32_t numbers = field_of(bytes, 2) + load_le<uint32_t>(bytes.data() + field_of(bytes, 2));
  store_le<uint32_t>(bytes.data() + numbers, 0x40000000);
  EXPECT_NE(refusal(bytes).find("the numbers of 8589934592 bytes reaches beyond"), std::string::npos);
  bytes = sample();
  store_le<uint32_t>(bytes.data() + field_of(bytes, 2), 0);
  EXPECT_NE(refusal(bytes).find("the offset of the numbers is 0"), std::string::npos);
  bytes = sample();
  const uint32_t text = field_of(bytes, 0) + load_le<uint32_t>(bytes.data() + field_of(bytes, 0));
  store_le<uint32_t>(bytes.data() + text, 4);
  EXPECT_NE(refusal(bytes).find("the text does not end with a zero byte"), std::string::npos);
  bytes = sample();
  store_le<uint16_t>(bytes.data() + list_of(bytes) + 4, 0);
  EXPECT_NE(refusal(bytes).find("the text is missing"), std::string::npos);
}

TEST(Flatbuffer, RefusesBytesThatAreReadAgainAndAgain) {
  Builder builder;
  const Built text = builder.text(std::string(1 << 20, 'x'));
  const std::vector<Built> many(200, text);
  const Built texts = builder.offsets(many);
  builder.begin_table();
  builder.field(0, texts);
  const std::vector<uint8_t> bytes = finished(builder, builder.end_table());
  const Buffer buffer(bytes);
  const Strings all = Table::root(buffer).texts(0, "texts");
  const auto read_all = [&] {
    for (size_t i = 0; i < all.size(); ++i) all[i];
  };
  try {
    read_all();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kLimit);
    EXPECT_NE(std::string(error.what()).find("the same bytes far too often"), std::string::npos);
  }
}

}  // namespace
}  // namespace flambeau::flatbuffer
