// What a block of numbers says, found by loops that are compiled for each level of the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "flambeau/base/isa.h"

namespace flambeau {

__extension__ using Int128 = __int128;

template <typename T>
struct Measured {
  T min = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest();
  int64_t nan_count = 0;
  int64_t inf_count = 0;
  double total = 0;  // of floats that are finite
  Int128 whole = 0;  // of integers
};

// Packed numbers at any alignment, a block at most; narrow ones have 32 bits or less.
#define FLAMBEAU_DECLARE(isa)                                                                           \
  namespace isa {                                                                                       \
  void measure_float(const uint8_t* from, size_t count, bool is_narrow, Measured<float>& measured);     \
  void measure_double(const uint8_t* from, size_t count, bool is_narrow, Measured<double>& measured);   \
  void measure_int64(const uint8_t* from, size_t count, bool is_narrow, Measured<int64_t>& measured);   \
  void measure_uint64(const uint8_t* from, size_t count, bool is_narrow, Measured<uint64_t>& measured); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

template <typename T>
auto find_measure() {
  if constexpr (std::is_same_v<T, float>) return FLAMBEAU_PICK(measure_float);
  if constexpr (std::is_same_v<T, double>) return FLAMBEAU_PICK(measure_double);
  if constexpr (std::is_same_v<T, int64_t>) return FLAMBEAU_PICK(measure_int64);
  if constexpr (std::is_same_v<T, uint64_t>) return FLAMBEAU_PICK(measure_uint64);
}

}  // namespace flambeau
