// SHA-256 of files, records and tensors: whether two are the same without having both.
#pragma once

#include <memory>
#include <optional>

#include "flambeau/base/progress.h"
#include "flambeau/base/sha256.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

class Mapping;

// Of the elements in row-major order, little-endian: the same for the same values in every format, whatever
// the strides. Nothing for tensors without plain elements (sparse, quantized, meta).
std::optional<Sha256::Digest> digest_of(const Tensor& tensor, Progress& progress = Progress::silent());

// Of all bytes of a file.
Sha256::Digest digest_of(const Mapping& mapping, Progress& progress = Progress::silent());

}  // namespace flambeau
