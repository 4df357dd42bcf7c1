// Canonical Huffman codes of limited length, with ties broken as PyTorch's compressor breaks them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace flambeau::zip {

// The codes of one alphabet of at most 288 symbols. Symbols that do not occur have length 0.
class HuffmanCode {
 public:
  // The best code for symbols that occur `counts` times, no longer than `most_bits` each.
  static HuffmanCode from_counts(std::span<const uint32_t> counts, int most_bits);
  static HuffmanCode from_lengths(std::span<const uint8_t> lengths);

  uint8_t length(size_t symbol) const { return lengths_[symbol]; }
  // Bit-reversed, ready for deflate's order of bits.
  uint16_t bits(size_t symbol) const { return bits_[symbol]; }

 private:
  void assign_bits();

  std::array<uint8_t, 288> lengths_{};
  std::array<uint16_t, 288> bits_{};
};

}  // namespace flambeau::zip
