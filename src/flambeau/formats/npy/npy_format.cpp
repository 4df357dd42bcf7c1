// NumPy's arrays, alone and in archives, as kinds of file.
#include <algorithm>

#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npz.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

Checkpoint open_npy(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  NamedTensors tensors;
  tensors.push_back({"array", read_npy(mapping)});
  return CheckpointBuilder::from_named(std::move(tensors));
}

bool holds_arrays_alone(const RecordArchive& archive) {
  const auto& entries = archive.zip().entries();
  return !entries.empty() &&
         std::ranges::all_of(entries, [](const zip::Entry& entry) { return entry.name.ends_with(".npy"); });
}

Checkpoint open_npz(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  return CheckpointBuilder::from_named(read_npz(mapping).tensors);
}

void write_as_npz(ByteSink& sink, const Checkpoint& checkpoint, const std::string& /*top_folder*/,
                  Progress& progress) {
  write_npz(sink, checkpoint.named(), progress);
}

// All its records are arrays, and those are read with the tensors of every archive.
void check_npz(safety::Checker& /*checker*/) {}

}  // namespace

constinit const Format kNpyFormat = {
    .name = "npy",
    .description = "a NumPy array (.npy)",
    .fits = looks_like_npy,
    .open = open_npy,
    .check = safety::check_by_opening,
};

constinit const Format kNpzFormat = {
    .name = "npz",
    .description = "an archive of NumPy arrays (.npz)",
    .fits_archive = holds_arrays_alone,
    .has_flat_records = true,
    .open = open_npz,
    .writer = {.write = write_as_npz, .endings = {".npz"}},
    .check = check_npz,
};

}  // namespace flambeau
