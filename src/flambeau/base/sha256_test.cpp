#include "flambeau/base/sha256.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

std::string hash(std::string_view text) { return to_hex(Sha256::of(text)); }

TEST(Sha256, HashesAsTheStandardSays) {
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // 56 bytes: the padding takes a block of its own.
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TakesPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (const size_t piece : {1, 3, 63, 64, 65, 299}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.add(as_bytes(std::string_view(text).substr(at, piece)));
    EXPECT_EQ(hash.finish(), Sha256::of(text)) << piece;
  }
}

}  // namespace
}  // namespace flambeau
