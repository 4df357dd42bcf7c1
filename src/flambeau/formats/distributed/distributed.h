// The folders of torch.distributed.checkpoint: .metadata says which tensors there are, and in which pieces
// they lie in the .distcp files beside it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/base/bytes.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/checkpoint.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct DistributedIndex {
  // A part of a tensor: a file of torch.save inside of a file.
  struct Piece {
    Dims offsets;  // in the tensor
    Dims sizes;
    size_t file = 0;  // of `files`
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  struct Entry {
    std::string name;
    DType dtype = DType::kFloat32;
    Dims sizes;
    std::vector<Piece> pieces;
  };
  // A piece, or a value that is no tensor: each was written by torch.save.
  struct Saved {
    size_t file = 0;  // of `files`
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  std::vector<std::string> files;   // plain names
  std::vector<Entry> tensors;       // in the order of the index
  std::vector<std::string> values;  // the names of what is no tensor
  std::vector<Saved> saved;         // all that is in the files, by file and place
};

// Whether a pickle begins as such an index does.
bool looks_like_distributed_index(ByteSpan bytes);

// Nothing in the pickle is called. The pieces of a tensor cover it once, and no byte of a file belongs to two
// of them. Throws Error(kCorrupt) located at the tensor, Error(kUnsupported) for pieces that were transformed
// (compressed), Error(kUnsafe) for a file name that leads out of the folder, Error(kLimit).
DistributedIndex read_distributed_index(const std::shared_ptr<Mapping>& index);

// What the index asks of Python besides what every pickle of weights may: objects of classes that only hold
// what they are given. Their names, and what is done with them that PyTorch never writes.
std::span<const std::string_view> names_of_distributed_index();
std::vector<std::string> find_misuses_in_index(const pickle::Tree& tree);

// The tensors: one in a single piece is a view of its mapped file, others are put together when they are
// read. Throws Error(kUnsupported) for an index that is not a file, Error(kNotFound) for a missing one,
// Error(kCorrupt) where a piece is not what the index says, and what opening files throws.
Checkpoint read_distributed(const std::shared_ptr<Mapping>& index);

}  // namespace flambeau
