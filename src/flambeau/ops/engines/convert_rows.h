// Conversions between packed rows of plain types, compiled for each level of the instruction set: those that
// hold for every number, or that wrap. What floats become as integers is in tensor/elements/wide_rows.h.
#pragma once

#include <cstddef>

#include "flambeau/base/isa.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::ops {

using ConvertRow = void (*)(const void* from, void* to, size_t count);

#define FLAMBEAU_DECLARE(isa)                              \
  namespace isa {                                          \
  ConvertRow find_convert_row(int from_type, int to_type); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

// Null where there is no such loop.
inline ConvertRow find_convert_row(DType from, DType to) {
  return FLAMBEAU_PICK(find_convert_row)(static_cast<int>(from), static_cast<int>(to));
}

}  // namespace flambeau::ops
