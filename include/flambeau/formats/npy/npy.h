// NumPy's .npy format: one array, described by a Python dict literal, then its bytes.
#pragma once

#include <memory>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

class Mapping;

// Versions 1.0 to 3.0. The tensor is a view of the mapping; big-endian data is swapped when first asked
// for, Fortran order becomes strides. Throws Error(kCorrupt) located at the file and byte, Error(kUnsafe) for
// pickled objects, Error(kUnsupported) for types that PyTorch does not have.
Tensor read_npy(std::shared_ptr<Mapping> mapping);
// The array is the `size` bytes at `offset` of a larger file, which the caller adds to the location.
Tensor read_npy(std::shared_ptr<Mapping> mapping, size_t offset, size_t size);

// The bytes that numpy.save writes: version 1.0, and Fortran order where the strides are so. Throws
// Error(kUnsupported) for what NumPy cannot hold, and what the sink and progress throw.
void write_npy(ByteSink& sink, const Tensor& tensor, Progress& progress = Progress::silent());

// True when the bytes start with NumPy's magic.
bool looks_like_npy(ByteSpan bytes);

}  // namespace flambeau
