#include "flambeau/formats/gguf/gguf_blocks.h"

#include "flambeau/base/bytes.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::gguf {
namespace {

float half_at(const uint8_t* at) { return Float16{load_le<uint16_t>(at)}.to_float(); }

int low(uint8_t byte) { return byte & 15; }
int high(uint8_t byte) { return byte >> 4; }
int bit(uint32_t bits, int index) { return static_cast<int>(bits >> index & 1U); }

// 4 bits and perhaps a fifth: value i has the low half of byte i, value i + 16 the high half.
template <bool kHasFifth, bool kHasMinimum>
void decode_small(const uint8_t* block, float* to) {
  const float factor = half_at(block);
  block += 2;
  float minimum = 0;
  if constexpr (kHasMinimum) {
    minimum = half_at(block);
    block += 2;
  }
  uint32_t fifth = 0;
  if constexpr (kHasFifth) {
    fifth = load_le<uint32_t>(block);
    block += 4;
  }
  constexpr int kMiddle = kHasMinimum ? 0 : kHasFifth ? 16 : 8;
  for (int i = 0; i < 16; ++i) {
    const int first = low(block[i]) | bit(fifth, i) << 4;
    const int second = high(block[i]) | bit(fifth, i + 16) << 4;
    to[i] = static_cast<float>(first - kMiddle) * factor;
    to[i + 16] = static_cast<float>(second - kMiddle) * factor;
    if constexpr (kHasMinimum) {
      to[i] += minimum;
      to[i + 16] += minimum;
    }
  }
}

// Factor and minimum of group `index`, 6 bits each, of the 12 bytes in which Q4_K and Q5_K keep eight pairs.
struct Scales {
  int factor;
  int minimum;
};
Scales scales_at(const uint8_t* packed, int index) {
  if (index < 4) return {packed[index] & 63, packed[index + 4] & 63};
  return {low(packed[index + 4]) | (packed[index - 4] >> 6) << 4,
          high(packed[index + 4]) | (packed[index] >> 6) << 4};
}

// Eight groups of 32: groups 2i and 2i + 1 share 32 bytes, one has the low halves.
template <bool kHasFifth>
void decode_medium(const uint8_t* block, float* to) {
  const float factor = half_at(block), minimum = half_at(block + 2);
  const uint8_t* const scales = block + 4;
  const uint8_t* const fifth = block + 16;
  const uint8_t* small = block + (kHasFifth ? 48 : 16);
  for (int group = 0; group < 8; ++group) {
    const Scales scale = scales_at(scales, group);
    const float step = factor * static_cast<float>(scale.factor);
    const float less = minimum * static_cast<float>(scale.minimum);
    for (int i = 0; i < 32; ++i) {
      int value = group % 2 == 0 ? low(small[i]) : high(small[i]);
      if constexpr (kHasFifth) value += bit(fifth[i], group) << 4;
      *to++ = step * static_cast<float>(value) - less;
    }
    if (group % 2 == 1) small += 32;
  }
}

}  // namespace

void decode_q4_0(const uint8_t* block, float* to) { decode_small<false, false>(block, to); }
void decode_q4_1(const uint8_t* block, float* to) { decode_small<false, true>(block, to); }
void decode_q5_0(const uint8_t* block, float* to) { decode_small<true, false>(block, to); }
void decode_q5_1(const uint8_t* block, float* to) { decode_small<true, true>(block, to); }

void decode_q8_0(const uint8_t* block, float* to) {
  const float factor = half_at(block);
  for (int i = 0; i < 32; ++i) to[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * factor;
}

// 16 bytes of scales (factor low, minimum high), 64 bytes of 2-bit values, the two halves.
void decode_q2_k(const uint8_t* block, float* to) {
  const uint8_t* const small = block + 16;
  const float factor = half_at(block + 80), minimum = half_at(block + 82);
  for (int group = 0; group < 16; ++group) {
    const float step = factor * static_cast<float>(low(block[group]));
    const float less = minimum * static_cast<float>(high(block[group]));
    const uint8_t* const from = small + group / 8 * 32 + group % 2 * 16;
    const int shift = group % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i) *to++ = step * static_cast<float>(from[i] >> shift & 3) - less;
  }
}

// 32 bytes of third bits, 64 of the lower two, 12 of 6-bit factors, and the half.
void decode_q3_k(const uint8_t* block, float* to) {
  const uint8_t* const third = block;
  const uint8_t* const small = block + 32;
  const uint8_t* const packed = block + 96;
  const float factor = half_at(block + 108);
  for (int group = 0; group < 16; ++group) {
    const int four = group < 8 ? low(packed[group]) : high(packed[group - 8]);
    const int two = packed[8 + group % 4] >> (group / 4 * 2) & 3;
    const float step = factor * static_cast<float>((four | two << 4) - 32);
    const int column = group % 2 * 16;
    const uint8_t* const from = small + group / 8 * 32 + column;
    const int shift = group % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i) {
      const int value = (from[i] >> shift & 3) - (bit(third[column + i], group / 2) != 0 ? 0 : 4);
      *to++ = step * static_cast<float>(value);
    }
  }
}

void decode_q4_k(const uint8_t* block, float* to) { decode_medium<false>(block, to); }
void decode_q5_k(const uint8_t* block, float* to) { decode_medium<true>(block, to); }

// 128 bytes of lower halves, 64 of the upper two bits, 16 signed factors, and the half.
void decode_q6_k(const uint8_t* block, float* to) {
  const float factor = half_at(block + 208);
  for (int row = 0; row < 8; ++row) {  // 32 values each
    const int quarter = row % 4;
    const uint8_t* const four = block + row / 4 * 64 + quarter % 2 * 32;
    const uint8_t* const two = block + 128 + row / 4 * 32;
    for (int i = 0; i < 32; ++i) {
      const int lower = quarter < 2 ? low(four[i]) : high(four[i]);
      const int value = (lower | (two[i] >> (2 * quarter) & 3) << 4) - 32;
      const auto scale = static_cast<int8_t>(block[192 + row * 2 + i / 16]);
      *to++ = factor * static_cast<float>(scale) * static_cast<float>(value);
    }
  }
}

}  // namespace flambeau::gguf
