#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/gguf/gguf.h"

namespace flambeau {
namespace {

// A file in the making: a header with these counts, then what is added.
class GgufMaker {
 public:
  explicit GgufMaker(uint64_t tensors = 0, uint64_t metadata = 0, uint32_t version = 3) {
    writer_.text("GGUF");
    writer_.le<uint32_t>(version);
    writer_.le<uint64_t>(tensors);
    writer_.le<uint64_t>(metadata);
  }
  GgufMaker& text(std::string_view value) {
    writer_.le<uint64_t>(value.size());
    writer_.text(value);
    return *this;
  }
  template <typename Number>
  GgufMaker& le(Number value) {
    writer_.le(value);
    return *this;
  }
  GgufMaker& tensor(std::string_view name, std::initializer_list<uint64_t> sizes, uint32_t type,
                    uint64_t offset) {
    text(name).le<uint32_t>(static_cast<uint32_t>(sizes.size()));
    for (const uint64_t size : sizes) le(size);
    return le(type).le(offset);
  }
  GgufMaker& data(size_t bytes) {
    writer_.fill((32 - writer_.size() % 32) % 32 + bytes, '\0');
    return *this;
  }
  const std::string& str() const { return writer_.str(); }

 private:
  ByteWriter writer_;
};

std::string refused(const std::string& bytes, ErrorCode code = ErrorCode::kCorrupt) {
  try {
    read_gguf(Mapping::from_text(bytes));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(GgufErrors, Start) {
  EXPECT_EQ(refused("GGML"), "byte 0: the file does not start with 'GGUF'");
  EXPECT_EQ(refused("GG"), "byte 0: the magic needs 4 bytes, 2 are left");
  EXPECT_EQ(refused("GGUF"), "byte 4: the version needs 4 bytes, 0 are left");
  EXPECT_EQ(refused(GgufMaker(0, 0, 1).str(), ErrorCode::kUnsupported),
            "is a GGUF file of version 1 (versions 2 and 3, little-endian, are read: convert it with "
            "llama.cpp's own "
            "tools)");
  EXPECT_TRUE(
      refused(GgufMaker(0, 0, 0x03000000).str(), ErrorCode::kUnsupported).starts_with("is a big-endian"));
}

TEST(GgufErrors, CountsAreComparedWithTheFile) {
  EXPECT_EQ(refused(GgufMaker(1ULL << 60).str()),
            "byte 8: the file is said to have 1152921504606846976 tensors, and 8 bytes are left for them");
  EXPECT_EQ(refused(GgufMaker(0, ~0ULL).str()),
            "byte 16: the file is said to have 18446744073709551615 metadata entries, and 0 bytes are left "
            "for them");
  EXPECT_EQ(
      refused(GgufMaker(0, 1).text("k").le<uint32_t>(9).le<uint32_t>(0).le<uint64_t>(1ULL << 40).str()),
      "key 'k': byte 41: the array is said to have 1099511627776 values of type uint8, 0 bytes are left");
  EXPECT_EQ(refused(GgufMaker(0, 1).le<uint64_t>(~0ULL).le<uint64_t>(0).str()),
            "byte 32: a key needs 18446744073709551615 bytes, 8 are left");
}

TEST(GgufErrors, Metadata) {
  EXPECT_EQ(refused(GgufMaker(0, 1).text("k").le<uint32_t>(13).str()),
            "key 'k': byte 33: the value is of the unknown type 13");
  EXPECT_EQ(refused(GgufMaker(0, 2)
                        .text("k")
                        .le<uint32_t>(0)
                        .le<uint8_t>(1)
                        .text("k")
                        .le<uint32_t>(0)
                        .le<uint8_t>(1)
                        .str()),
            "two keys are named 'k'");
  EXPECT_EQ(refused(GgufMaker(0, 1).text("\xff\xff").le<uint32_t>(0).le<uint8_t>(1).str()),
            "byte 24: a key is not UTF-8");
  EXPECT_EQ(refused(GgufMaker(0, 1).text("general.alignment").le<uint32_t>(4).le<uint32_t>(0).str()),
            "key 'general.alignment': 0 is no alignment: a power of two up to 1048576 is expected");
  EXPECT_EQ(refused(GgufMaker(0, 1).text("general.alignment").le<uint32_t>(8).text("x").str()),
            "key 'general.alignment': expected a uint32, found string");
  GgufMaker deep(0, 1);
  deep.text("k").le<uint32_t>(9);
  for (int i = 0; i < 20; ++i) deep.le<uint32_t>(9).le<uint64_t>(1);
  EXPECT_EQ(refused(deep.le<uint32_t>(0).le<uint64_t>(0).str(), ErrorCode::kLimit),
            "key 'k': arrays are nested more than 8 deep");
}

TEST(GgufErrors, Tensors) {
  EXPECT_EQ(
      refused(GgufMaker(1).tensor("x", {4}, 0, 0).data(8).str()),
      "tensor 'x': it takes 16 bytes at byte 0 of the data, which has 8 (the file may be cut short: copy or "
      "download it again)");
  EXPECT_EQ(refused(GgufMaker(1).tensor("x", {4}, 0, 8).data(64).str()),
            "tensor 'x': it starts at byte 8 of the data, no multiple of 32");
  EXPECT_EQ(refused(GgufMaker(1).tensor("x", {4}, 0, ~0ULL - 31).data(64).str()),
            "tensor 'x': it takes 16 bytes at byte 18446744073709551584 of the data, which has 64 (the file "
            "may be cut "
            "short: copy or download it again)");
  EXPECT_EQ(refused(GgufMaker(1).tensor("x", {33}, 2, 0).data(64).str()),
            "tensor 'x': rows of 33 values are no whole blocks of type Q4_0, which has 32 in one");
  EXPECT_EQ(refused(GgufMaker(2).tensor("x", {9}, 0, 0).tensor("y", {1}, 0, 32).data(64).str()),
            "tensor 'y': it starts at byte 32 of the data, before 'x' ends at 36");
  EXPECT_EQ(refused(GgufMaker(2).tensor("x", {1}, 0, 0).tensor("x", {1}, 0, 32).data(64).str()),
            "two tensors are named 'x'");
  EXPECT_EQ(
      refused(
          GgufMaker(1).tensor("x", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, 0).data(64).str()),
      "tensor 'x': it has 17 dimensions, 16 are the most");
  EXPECT_TRUE(refused(GgufMaker(1).tensor("x", {1ULL << 40, 1ULL << 40}, 0, 0).data(64).str())
                  .starts_with("tensor 'x': "));
  EXPECT_TRUE(
      refused(GgufMaker(1).tensor("x", {1ULL << 61}, 8, 0).data(64).str()).starts_with("tensor 'x': "));
}

// A tensor takes 37 bytes there and a kilobyte once it is known.
TEST(GgufErrors, ASmallFileDoesNotDescribeAnEndlessModel) {
  constexpr uint64_t kCount = 60'000;
  GgufMaker maker(kCount);
  for (uint64_t i = 0; i < kCount; ++i) maker.tensor(std::to_string(10'000 + i), {0}, 0, 0);
  EXPECT_NE(refused(maker.data(0).str(), ErrorCode::kLimit).find("describes too many tensors for its size"),
            std::string::npos);
}

TEST(GgufErrors, EmptyTensorsNeedNoData) {
  const GgufFile file =
      read_gguf(Mapping::from_text(GgufMaker(2).tensor("x", {0, 4}, 0, 0).tensor("y", {0}, 2, 0).str()));
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].tensor.sizes(), (Dims{4, 0}));
  EXPECT_EQ(file.tensors[1].tensor.storage()->bytes().size(), 0U);
}

TEST(GgufErrors, AnUnknownTypeIsListedNotRefused) {
  const GgufFile file = read_gguf(Mapping::from_text(GgufMaker(1).tensor("x", {4}, 99, 0).data(64).str()));
  ASSERT_EQ(file.skipped.size(), 1U);
  EXPECT_EQ(file.skipped[0].second, "of the unknown type 99");
}

}  // namespace
}  // namespace flambeau
