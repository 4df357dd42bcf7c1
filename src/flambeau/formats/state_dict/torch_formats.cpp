// The three ages of torch.save as kinds of file.
#include <set>

#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/state_dict/torch_writer.h"

namespace flambeau {
namespace {

constexpr Openings kTorchLoad = bit(Opening::kWeightsOnly) | bit(Opening::kFull);

PickleVisitor judging(safety::Checker& checker) {
  return [&checker](const pickle::Tree& tree, std::string_view place) { checker.judge(tree, place); };
}

// ---- zip, since 1.6

bool has_data_pickle(const RecordArchive& archive) { return archive.has("data.pkl"); }

Checkpoint open_torch_zip(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  return CheckpointBuilder::from_torch(read_torch_zip(file.archive), mapping->size());
}

void write_as_torch_zip(ByteSink& sink, const Checkpoint& checkpoint, const std::string& top_folder,
                        Progress& progress) {
  write_torch_zip(sink, checkpoint, {top_folder}, progress);
}

// Later versions left marks that earlier ones did not know: 2.1 brought the serialization id and the byte
// order, 2.7 the format version and the alignment.
void inspect_torch_zip(Inspecting& inspecting) {
  const RecordArchive& archive = inspecting.archive();
  inspecting.result().producer = archive.has(".format_version")          ? "PyTorch 2.7 or newer"
                                 : archive.has(".data/serialization_id") ? "PyTorch 2.1 to 2.6"
                                                                         : "PyTorch 1.6 to 2.0";
  inspecting.add_archive_version();
  inspecting.add_byte_order();
}

// The keys of storages that a torch.save pickle names.
std::set<std::string, std::less<>> storage_keys(const pickle::Tree& tree) {
  std::set<std::string, std::less<>> keys;
  for (const pickle::Node* node : tree.persistents()) {
    const pickle::Node& id = *node->persistent_id();
    if (!id.is(pickle::Kind::kTuple) || id.items().size() < 3) continue;
    if (id.items()[2]->is(pickle::Kind::kString)) keys.emplace(id.items()[2]->as_string());
  }
  return keys;
}

void check_torch_save(safety::Checker& checker) {
  std::set<std::string, std::less<>> keys;
  checker.guarded("pickle", "data.pkl", [&] {
    const std::shared_ptr<Mapping> inner = checker.contents(checker.archive().get("data.pkl"));
    const std::string_view record = checker.archive().get("data.pkl").name;
    checker.check_pickle(inner->bytes(), record);
    TorchFile file;
    try {
      file = read_torch_zip(checker.file().archive);
    } catch (const Error&) {
      return;  // there is a finding already
    }
    keys = storage_keys(file.tree);
    checker.judge_tensors(file, record);
  });
  for (const std::string_view name : checker.archive().names()) {
    const bool is_storage = name.starts_with("data/") && keys.contains(name.substr(5));
    if (name == "data.pkl" || is_storage || checker.is_marker(name)) continue;
    checker.check_unaccounted(name, checker.archive().get(name));
  }
}

// ---- a row of pickles, 0.1.10 to 1.5

Checkpoint open_torch_legacy(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  return CheckpointBuilder::from_torch(read_torch_legacy(mapping), mapping->size());
}

void inspect_torch_legacy(Inspecting& inspecting) {
  inspecting.result().producer = "PyTorch 0.1.10 to 1.5, or a later one told so";
}

void check_torch_legacy(safety::Checker& checker) {
  checker.set_read_from_start();
  TorchFile file = read_torch_legacy(checker.mapping(), judging(checker));
  checker.check_rest(file.end, "the last storage");
  checker.judge_tensors(file, "");
  CheckpointBuilder::from_torch(std::move(file), checker.bytes().size());
}

// ---- tar, before 0.1.10

Checkpoint open_torch_tar(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  return CheckpointBuilder::from_torch(read_torch_tar(mapping), mapping->size());
}

void inspect_torch_tar(Inspecting& inspecting) { inspecting.result().producer = "PyTorch before 0.1.10"; }

void check_torch_tar(safety::Checker& checker) {
  const ByteSpan bytes = checker.bytes();
  // Python's tar reader lets links and extended headers change names and contents.
  for (const tar::Member& member : tar::read_other_members(bytes)) {
    checker.find(Severity::kDanger, "tar", member.name,
                 "is no plain file: it could pass for another member, which torch.save never wrote");
  }
  for (const tar::Member& member : tar::read_members(bytes)) {
    const bool is_known = member.name == "sys_info" || member.name == "pickle" || member.name == "storages" ||
                          member.name == "tensors";
    if (is_known) continue;
    checker.find(Severity::kCaution, "tar", member.name,
                 "is no member that torch.save wrote, and nothing says what it is");
  }
  TorchFile file = read_torch_tar(checker.mapping(), judging(checker));
  checker.judge_tensors(file, "");
  CheckpointBuilder::from_torch(std::move(file), checker.bytes().size());
}

}  // namespace

constinit const Format kTorchSaveFormat = {
    .name = "torch_save",
    .description = "a torch.save file (zip)",
    .fits_archive = has_data_pickle,
    .open = open_torch_zip,
    .has_structure = true,
    .model_file = "pytorch_model.bin",
    .writer = {.write = write_as_torch_zip,
               .endings = {".pt", ".pth", ".bin", ".ckpt"},
               .keeps_structure = true},
    .inspect = inspect_torch_zip,
    .openings = kTorchLoad,
    .check = check_torch_save,
};

constinit const Format kTorchSaveLegacyFormat = {
    .name = "torch_save_legacy",
    .description = "a torch.save file in the legacy form (before 1.6)",
    .fits = looks_like_torch_legacy,
    .open = open_torch_legacy,
    .has_structure = true,
    .inspect = inspect_torch_legacy,
    .openings = kTorchLoad,
    .check = check_torch_legacy,
};

constinit const Format kTorchSaveTarFormat = {
    .name = "torch_save_tar",
    .description = "a torch.save file in the tar form (before 0.1.10)",
    .fits = looks_like_torch_tar,
    .open = open_torch_tar,
    .has_structure = true,
    .inspect = inspect_torch_tar,
    .openings = bit(Opening::kFull),
    .check = check_torch_tar,
};

}  // namespace flambeau
