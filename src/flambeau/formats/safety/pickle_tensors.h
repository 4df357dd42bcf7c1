// The tensors and storages that unpickling a file would make, whether the file keeps them or throws them
// away: a walk over what it holds does not meet one that is popped, a key, or a hook of another, and PyTorch
// takes memory for each.
#pragma once

#include <string>
#include <vector>

#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {

// What is wrong with them, in the order of the pickle; `file_size` bounds what they may take.
std::vector<std::string> find_false_tensors(const TorchFile& file, uint64_t file_size, size_t most = 100);

}  // namespace flambeau
