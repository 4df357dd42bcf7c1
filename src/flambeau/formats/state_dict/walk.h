// Finds every tensor in what a pickle holds, and gives each a name: the keys on the way to it, joined by
// dots, as model.state_dict() names them.
#pragma once

#include <string>
#include <vector>

#include "flambeau/formats/state_dict/rebuild.h"

namespace flambeau {

struct FoundTensor {
  std::string name;
  const Rebuilt* rebuilt;
  const pickle::Node* node;
};

// Something that looks like a tensor and could not be made one.
struct SkippedTensor {
  std::string name;
  std::string reason;
};

struct FoundTensors {
  std::vector<FoundTensor> tensors;
  std::vector<SkippedTensor> skipped;
};

// Walks dicts, lists, tuples, sets and the state of objects; a pickled nn.Module yields its state dict's
// names. Cycles are cut; a container reached by two ways is shown under both names. What is corrupt
// throws; what is only unsupported is skipped with its reason. Throws Error(kLimit) when the tensors and
// their names would grow out of proportion to the file, whose size is `file_size`.
FoundTensors find_tensors(const pickle::Tree& tree, Rebuilder& rebuilder, uint64_t file_size);

}  // namespace flambeau
