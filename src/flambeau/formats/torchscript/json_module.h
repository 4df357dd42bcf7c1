// Modules in the form before 1.3: model.json says which modules and tensors there are, in the words of
// protobuf, and the bytes of tensors are in records of their own. Nothing of the code is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/checkpoint.h"

namespace flambeau::script {

struct JsonModule {
  std::vector<CheckpointTensor> tensors;
  std::vector<std::string> attributes;  // names of what is no tensor, and not read
};

// Parameters and buffers by their names, in the file's order, module by module; views of the archive's bytes.
// Throws Error(kCorrupt, kLimit, kUnsupported) located at the record.
JsonModule read_json_module(const std::shared_ptr<const RecordArchive>& archive);

}  // namespace flambeau::script
