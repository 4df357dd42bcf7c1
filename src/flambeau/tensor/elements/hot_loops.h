// The conversions that models spend their time in, over packed rows: vector instructions where the
// processor has them, plain loops elsewhere, the same bits either way. No pointer need be aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flambeau {

void convert_half_to_float(const uint8_t* from, uint8_t* to, size_t count);
void convert_float_to_half(const uint8_t* from, uint8_t* to, size_t count);
void convert_bfloat16_to_float(const uint8_t* from, uint8_t* to, size_t count);
void convert_float_to_bfloat16(const uint8_t* from, uint8_t* to, size_t count);
void convert_double_to_float(const uint8_t* from, uint8_t* to, size_t count);

// True when this processor runs the AVX2 and F16C variants.
bool has_avx2();

}  // namespace flambeau
