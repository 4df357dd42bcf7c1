// Element types reduced to the four that are computed with, a row at a time: every number a tensor holds is
// exactly a float32, a float64, an int64 or a uint64, so code over all types needs four loops and not twenty.
// Complex types are read as rows of their real or imaginary parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/tensor/elements/compute.h"

namespace flambeau {

// The type of a complex type's parts; the type itself for all others.
DType part_dtype(DType dtype);

// Reads `count` elements that lie `step` bytes apart, at any alignment, into an array of the wide type.
using LoadRow = void (*)(const uint8_t* from, ptrdiff_t step, size_t count, void* wide);
// Writes them as another type, converted as PyTorch does on x86.
using StoreRow = void (*)(const void* wide, size_t count, uint8_t* to, ptrdiff_t step);

// `part` is plain and not complex.
LoadRow load_row(DType part);
StoreRow store_row(Compute from, DType part);

// How many elements to take at a time: the wide array stays in the first-level cache.
constexpr size_t kWideBlock = 1024;

}  // namespace flambeau
