// Any pickle is the index of a distributed checkpoint or an Error; an index names plain files, and its pieces
// fit.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/distributed/distributed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  DistributedIndex index;
  try {
    index = read_distributed_index(Mapping::from_buffer({data, data + size}));
  } catch (const Error&) {
    return 0;
  }
  for (const std::string& file : index.files) {
    if (file.empty() || file == ".." || file.find('/') != std::string::npos) std::abort();
  }
  for (const DistributedIndex::Entry& entry : index.tensors) {
    for (const DistributedIndex::Piece& piece : entry.pieces) {
      if (piece.file >= index.files.size() || piece.sizes.size() != entry.sizes.size()) std::abort();
    }
  }
  return 0;
}
