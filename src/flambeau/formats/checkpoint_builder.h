// Assembles Checkpoints; for the readers of this room only.
#pragma once

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/gguf/gguf.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {

class CheckpointBuilder {
 public:
  // Everything a pickle describes, of a file of `file_size` bytes.
  static Checkpoint from_torch(FileKind kind, TorchFile file, uint64_t file_size);
  // Named tensors with nothing around them.
  static Checkpoint from_named(FileKind kind, NamedTensors tensors,
                               std::vector<std::pair<std::string, std::string>> metadata = {});
  // What torch.save of a dict of tensors and Parameters holds; `is_ordered`: of an OrderedDict.
  static Checkpoint from_entries(std::vector<CheckpointTensor> entries, bool is_ordered);
  // The weights of exported programs.
  static Checkpoint from_program(FileKind kind, std::vector<CheckpointTensor> entries,
                                 std::vector<std::pair<std::string, std::string>> skipped);
  static Checkpoint from_gguf(GgufFile file);
  // The tensors of several files that make one model.
  static Checkpoint from_shards(std::vector<CheckpointTensor> entries,
                                std::vector<std::pair<std::string, std::string>> skipped,
                                std::vector<std::pair<std::string, std::string>> metadata,
                                std::vector<std::string> notes);
};

}  // namespace flambeau
