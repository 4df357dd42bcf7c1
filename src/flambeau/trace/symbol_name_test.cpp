#include "flambeau/trace/symbol_name.h"

#include <gtest/gtest.h>

#include <string>

namespace flambeau::trace {
namespace {

std::string hex(std::string_view text) {
  std::string result;
  for (const uint8_t byte : sha256(text)) {
    result += "0123456789abcdef"[byte >> 4];
    result += "0123456789abcdef"[byte & 15];
  }
  return result;
}

TEST(SymbolName, HashesAsTheStandardSays) {
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // 56 bytes: the padding takes a block of its own.
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(SymbolName, NumbersAsPyTorchDoes) {
  EXPECT_EQ(symbol_number("L['x'].size()[0]"), 77);
  EXPECT_EQ(symbol_number("L['x'].size()[1]"), 27);
  EXPECT_EQ(symbol_number("L['y'].size()[0]"), 17);
}

}  // namespace
}  // namespace flambeau::trace
