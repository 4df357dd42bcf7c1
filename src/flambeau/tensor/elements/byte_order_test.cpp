#include "flambeau/tensor/elements/byte_order.h"

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

TEST(ByteOrder, ReversesEachWord) {
  for (const size_t word : {1, 2, 4, 8, 16}) {
    std::vector<uint8_t> bytes(1 + word * 5);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 3);
    std::vector<uint8_t> expected = bytes;
    for (size_t i = 0; i < word * 5; ++i) {
      expected[1 + i] = bytes[1 + i / word * word + (word - 1 - i % word)];
    }
    swap_byte_order(MutableByteSpan(bytes).subspan(1), word);
    EXPECT_EQ(bytes, expected) << word;
  }
}

TEST(ByteOrder, RefusesOddWords) {
  std::vector<uint8_t> bytes(6);
  EXPECT_EQ(testing::error_text([&] { swap_byte_order(bytes, 4); }),
            "6 bytes cannot be swapped as words of 4");
  EXPECT_EQ(testing::error_code([&] { swap_byte_order(bytes, 3); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(testing::error_code([&] { swap_byte_order(bytes, 0); }), ErrorCode::kInvalidArgument);
  EXPECT_NO_THROW(swap_byte_order({}, 8));
}

}  // namespace
}  // namespace flambeau
