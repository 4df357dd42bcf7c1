// Assembles Checkpoints; for the readers of this room only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {

// What a file has beside its tensors: see Checkpoint.
struct CheckpointExtras {
  std::vector<std::pair<std::string, std::string>> skipped = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::vector<std::string> notes = {};
};

class CheckpointBuilder {
 public:
  // Everything a pickle describes, of a file of `file_size` bytes.
  static Checkpoint from_torch(TorchFile file, uint64_t file_size);
  // A file in a file, which is what torch.save wrote, in one of its three forms; other kinds are not looked
  // for, and readers that use this alone are not linked with them. Throws Error(kUnsupported) for any other
  // file.
  static Checkpoint from_torch_save(const std::shared_ptr<Mapping>& mapping);
  // Named tensors with nothing around them.
  static Checkpoint from_named(NamedTensors tensors, CheckpointExtras extras = {});
  // What torch.save of a dict of tensors and Parameters holds; `is_ordered`: of an OrderedDict.
  static Checkpoint from_entries(std::vector<CheckpointTensor> entries, CheckpointExtras extras = {},
                                 bool is_ordered = true);
  // As the file's format opens it.
  static Checkpoint open(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping);
};

}  // namespace flambeau
