// The blocks of GGUF's quantized types: small integers with shared factors, which become float32.
#pragma once

#include <cstdint>

namespace flambeau::gguf {

// 32 values each: 4, 5 or 8 bits, times a factor; the types that end in 1 also add one.
void decode_q4_0(const uint8_t* block, float* to);
void decode_q4_1(const uint8_t* block, float* to);
void decode_q5_0(const uint8_t* block, float* to);
void decode_q5_1(const uint8_t* block, float* to);
void decode_q8_0(const uint8_t* block, float* to);
// 256 values each, in groups of 16 or 32 with factors that are small integers themselves.
void decode_q2_k(const uint8_t* block, float* to);
void decode_q3_k(const uint8_t* block, float* to);
void decode_q4_k(const uint8_t* block, float* to);
void decode_q5_k(const uint8_t* block, float* to);
void decode_q6_k(const uint8_t* block, float* to);

}  // namespace flambeau::gguf
