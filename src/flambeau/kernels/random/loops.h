// The parts of generator.h and random.h that exist once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

#define FLAMBEAU_DECLARE(isa)                                                                     \
  namespace isa {                                                                                 \
  /* The next 624 words of the Mersenne Twister. */                                               \
  void refill_words(uint32_t* state);                                                             \
  /* Words of the state as random numbers. */                                                     \
  void temper_words(const uint32_t* state, uint32_t* out, size_t n);                              \
  /* Their 24 low bits as numbers in [0, 1). */                                                   \
  void unit_floats(const uint32_t* words, float* out, size_t n);                                  \
  /* Turns blocks of 16 uniform numbers into normal ones: 8 radii, then 8 angles (Box-Muller). */ \
  void normal_blocks(float* data, size_t blocks, float mean, float deviation);                    \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

}  // namespace flambeau::kernels
