// The safetensors format: a JSON header with names, types, shapes and offsets, then the bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/named_tensors.h"

namespace flambeau {

using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsFile {
  NamedTensors tensors;          // in the order of their bytes
  SafetensorsMetadata metadata;  // in the order of the header
};

// Every tensor is a view of the mapping with a storage of its own; nothing is copied. The bytes need not be
// aligned to the element size. Throws Error(kCorrupt) located at the file and tensor or byte, Error(kLimit)
// for nesting, and Error(kUnsupported) for a type that PyTorch does not have.
SafetensorsFile read_safetensors(std::shared_ptr<Mapping> mapping);

// The bytes that the reference library writes for the same tensors: sorted by type, then name; aliases are
// written once each, because the format has no sharing. Throws Error(kUnsupported) located at a tensor that
// the format cannot hold, Error(kInvalidArgument) for bad names, and what the sink and progress throw.
void write_safetensors(ByteSink& sink, std::span<const NamedTensor> tensors,
                       const SafetensorsMetadata& metadata = {}, Progress& progress = Progress::silent());

// True when the bytes start like a safetensors file: a plausible header length, then '{'. The other one also
// wants the header to be there.
bool starts_like_safetensors(ByteSpan bytes);
bool looks_like_safetensors(ByteSpan bytes);

}  // namespace flambeau
