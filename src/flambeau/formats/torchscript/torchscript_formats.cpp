// TorchScript's modules as kinds of file: torch.jit.save, for mobile interpreters, and the form before 1.3.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "flambeau/archive/elf/reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/json_module.h"

namespace flambeau {
namespace {

bool is_mobile_module(const RecordArchive& archive) {
  return archive.has("bytecode.pkl") && archive.has("data.pkl");
}
bool is_script_module(const RecordArchive& archive) {
  return archive.has("constants.pkl") && archive.has("data.pkl");
}
bool is_old_script_module(const RecordArchive& archive) { return archive.has("model.json"); }

Checkpoint open_module(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  return CheckpointBuilder::from_torch(read_torch_zip(file.archive), mapping->size());
}

// Names of attributes, as many as fit on a line.
std::string attributes_note(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 5;
  std::string list;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) list += ", ...";
  return fmt::format("{} that {} not read: {}", names.size() == 1 ? "an attribute" : "attributes",
                     names.size() == 1 ? "is" : "are", printable(list, 300));
}

Checkpoint open_old_module(const RecognizedFile& file, const std::shared_ptr<Mapping>& /*mapping*/) {
  script::JsonModule module = script::read_json_module(file.archive);
  CheckpointExtras extras;
  if (!module.attributes.empty()) extras.notes.push_back(attributes_note(module.attributes));
  return CheckpointBuilder::from_entries(std::move(module.tensors), std::move(extras));
}

void inspect_archive(Inspecting& inspecting) {
  inspecting.add_archive_version();
  inspecting.add_byte_order();
}

void inspect_old_module(Inspecting& inspecting) {
  inspecting.result().producer = "PyTorch 1.0 to 1.2";
  inspect_archive(inspecting);
}

// 2.1 brought the serialization id.
void inspect_module(Inspecting& inspecting) {
  inspecting.result().producer =
      inspecting.archive().has(".data/serialization_id") ? "PyTorch 2.1 or newer" : "PyTorch 1.4 to 2.0";
  inspect_archive(inspecting);
}

void check_torchscript(safety::Checker& checker) {
  size_t code_files = 0;
  for (const std::string_view name : checker.archive().names()) {
    const zip::Entry& entry = checker.archive().get(name);
    if (name.starts_with("code/") && name.ends_with(".py")) ++code_files;
    if (inflates_too_much(checker.archive().zip(), entry)) continue;
    checker.guarded("zip", entry.name, [&] {
      const std::shared_ptr<Mapping> inner = checker.contents(entry);
      if (name.ends_with(".pkl")) return checker.check_pickle(inner->bytes(), entry.name);
      if (elf::looks_like_elf(inner->bytes()) || name.ends_with(".so")) {
        checker.find(Severity::kDanger, "library", entry.name,
                     "compiled code, which loading the model would run");
      }
    });
  }
  // Mobile modules may have bytecode alone.
  checker.find(Severity::kCaution, "code", "",
               code_files == 0
                   ? std::string("a TorchScript module, which runs when it is loaded and called")
                   : fmt::format("{} of TorchScript code, which {} when the module is loaded and called",
                                 code_files == 1 ? "1 file" : fmt::format("{} files", code_files),
                                 code_files == 1 ? "runs" : "run"),
               bit(Opening::kFull) | bit(Opening::kModel));
  checker.set_refused_by_weights_only();
}

}  // namespace

constinit const Format kTorchScriptFormat = {
    .name = "torchscript",
    .description = "a TorchScript module (torch.jit.save)",
    .fits_archive = is_script_module,
    .open = open_module,
    .has_structure = true,
    .is_torchscript = true,
    .inspect = inspect_module,
    .note = "its code is printed by 'flambeau code', and summed up by --code",
    .openings = bit(Opening::kFull) | bit(Opening::kModel),
    .check = check_torchscript,
};

constinit const Format kTorchScriptMobileFormat = {
    .name = "torchscript_mobile",
    .description = "a mobile TorchScript module (.ptl, with bytecode)",
    .fits_archive = is_mobile_module,
    .open = open_module,
    .has_structure = true,
    .is_torchscript = true,
    .inspect = inspect_module,
    .note = "'flambeau convert --script' makes code of its bytecode, 'flambeau opnames' lists its operators",
    .openings = bit(Opening::kModel),
    .check = check_torchscript,
};

constinit const Format kTorchScriptLegacyFormat = {
    .name = "torchscript_legacy",
    .description = "a TorchScript module in the form before 1.3",
    .fits_archive = is_old_script_module,
    .open = open_old_module,
    .is_torchscript = true,
    .inspect = inspect_old_module,
    .note = "its code, the records code/*, is in a language before TorchScript's, and is not compiled",
    .openings = bit(Opening::kModel),
    .check = check_torchscript,
};

}  // namespace flambeau
