// NumPy's .npz format: a zip archive of .npy arrays.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flambeau/archive/zip/reader.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/named_tensors.h"

namespace flambeau {

struct NpzFile {
  NamedTensors tensors;              // the records "name.npy", in the archive's order
  std::vector<std::string> skipped;  // the names of all other records
};

// Stored arrays are views of the mapping. Of deflated ones over 64 KiB only the header is inflated, the rest
// when first asked for. Throws what zip::Reader and read_npy throw,
// located at the file and record.
NpzFile read_npz(std::shared_ptr<Mapping> mapping, const zip::Limits& limits = {});

// A stored archive whose arrays start at multiples of 64 bytes, so that they can be mapped. Throws
// Error(kInvalidArgument) for names that are no plain relative paths, Error(kUnsupported) for what NumPy
// cannot hold, both located at the tensor, and what the sink and progress throw.
void write_npz(ByteSink& sink, std::span<const NamedTensor> tensors, Progress& progress = Progress::silent());

}  // namespace flambeau
