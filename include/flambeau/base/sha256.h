// SHA-256, of bytes that come in pieces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "flambeau/base/bytes.h"

namespace flambeau {

class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  void add(ByteSpan bytes);
  // Of everything so far; nothing can be added afterwards.
  Digest finish();

  static Digest of(ByteSpan bytes);
  static Digest of(std::string_view text) { return of(as_bytes(text)); }

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> rest_{};  // less than a block
  uint64_t size_ = 0;
};

// "e3b0c442...": 64 digits.
std::string to_hex(const Sha256::Digest& digest);

}  // namespace flambeau
