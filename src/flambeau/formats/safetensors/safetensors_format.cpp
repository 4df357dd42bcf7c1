// safetensors as a kind of file.
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

Checkpoint open_safetensors(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  SafetensorsFile found = read_safetensors(mapping);
  return CheckpointBuilder::from_named(std::move(found.tensors), {.metadata = std::move(found.metadata)});
}

void write_as_safetensors(ByteSink& sink, const Checkpoint& checkpoint, const std::string& /*top_folder*/,
                          Progress& progress) {
  write_safetensors(sink, checkpoint.named(), checkpoint.metadata(), progress);
}

}  // namespace

constinit const Format kSafetensorsFormat = {
    .name = "safetensors",
    .description = "a safetensors file",
    .fits = looks_like_safetensors,
    .may_begin = starts_like_safetensors,
    .open = open_safetensors,
    .model_file = "model.safetensors",
    .writer = {.write = write_as_safetensors, .endings = {".safetensors"}},
    .check = safety::check_by_opening,
};

}  // namespace flambeau
