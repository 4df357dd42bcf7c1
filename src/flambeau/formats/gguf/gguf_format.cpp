// GGUF as a kind of file.
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/gguf/gguf.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

// Arrays of metadata are tables of a tokenizer, which no other format takes.
Checkpoint open_gguf(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  GgufFile file = read_gguf(mapping);
  std::vector<CheckpointTensor> entries;
  entries.reserve(file.tensors.size());
  for (GgufTensor& entry : file.tensors) {
    entries.push_back({std::move(entry.name), std::move(entry.tensor), TensorRole::kTensor,
                       entry.is_quantized ? entry.type : std::string_view()});
  }
  CheckpointExtras extras;
  extras.skipped = std::move(file.skipped);
  for (GgufMetadata& entry : file.metadata) {
    if (!entry.is_array) extras.metadata.emplace_back(std::move(entry.key), std::move(entry.text));
  }
  return CheckpointBuilder::from_entries(std::move(entries), std::move(extras));
}

void inspect_gguf(Inspecting& inspecting) {
  GgufFile file = read_gguf(inspecting.mapping());
  Inspection& result = inspecting.result();
  result.format_version = file.version;
  result.byte_order = "little";
  result.metadata.clear();
  for (GgufMetadata& entry : file.metadata)
    result.metadata.emplace_back(std::move(entry.key), std::move(entry.text));
}

}  // namespace

constinit const Format kGgufFormat = {
    .name = "gguf",
    .description = "a GGUF file",
    .fits = looks_like_gguf,
    .open = open_gguf,
    .inspect = inspect_gguf,
    .check = safety::check_by_opening,
};

}  // namespace flambeau
