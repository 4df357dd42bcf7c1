// Exported programs as kinds of file: today's archive, the older layout, and programs on their own.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/compiled/compiled_records.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/pt2/archive_names.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/package_readers.h"
#include "flambeau/formats/pt2/payload_config.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace pt2 {
namespace {

// An object whose first member is one of those an exported program begins with.
bool looks_like_program(ByteSpan bytes) {
  std::string_view text = as_text(bytes.first(std::min<size_t>(bytes.size(), 256)));
  const auto skip_space = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  skip_space();
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip_space();
  return text.starts_with("\"graph_module\"");
}

bool looks_like_program_text(ByteSpan bytes) { return as_text(bytes).starts_with("#| flambeau text "); }

bool is_package(const RecordArchive& archive) { return archive.has("archive_format"); }
bool is_old_package(const RecordArchive& archive) { return archive.has("serialized_exported_program.json"); }

// Of several programs in one archive, each one's weights stand under its name.
Checkpoint weights_of_programs(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  const Package package = load_package(file, mapping);
  std::vector<CheckpointTensor> entries;
  CheckpointExtras extras;
  for (const Model& model : package.models) {
    const std::string prefix = package.models.size() == 1 ? std::string() : model.name + ".";
    for (const auto* list : {&model.program.state_dict, &model.program.constants}) {
      for (const graph::Weight& weight : *list) {
        if (weight.pickled != nullptr) {
          extras.skipped.emplace_back(prefix + weight.name, "a tensor of a class of its own");
          continue;
        }
        entries.push_back({prefix + weight.name, weight.tensor,
                           weight.is_parameter ? TensorRole::kParameter : TensorRole::kTensor});
      }
    }
    for (const graph::NamedObject& object : model.program.objects) {
      extras.skipped.emplace_back(prefix + object.name, "an object that only its own class can read");
    }
  }
  return CheckpointBuilder::from_entries(std::move(entries), std::move(extras));
}

// torch.export.save wrote bare records until 2.7 and today's archive since 2.8; AOTInductor's packages had
// such an archive from 2.5 on, at first without a top folder.
void inspect_package(Inspecting& inspecting) {
  inspecting.result().producer =
      inspecting.archive().top_folder().empty() ? "PyTorch 2.5 to 2.7" : "PyTorch 2.8 or newer";
  inspecting.add_archive_version();
  inspecting.add_byte_order();
  inspecting.result().compiled = read_compiled_models(inspecting.archive());
}

// The record "version" is the schema's here.
void inspect_old_package(Inspecting& inspecting) {
  inspecting.result().producer = "PyTorch 2.1 to 2.7";
  inspecting.add_byte_order();
}

std::vector<Payload> read_table(RecordJsonReader& texts, const zip::Entry& entry) {
  return texts.read(entry, [](std::string_view text, const json::Limits& limits) {
    return read_payload_config(text, limits);
  });
}

// Of a tensor of these sizes, one element behind the other; as much as fits for more.
uint64_t bytes_of(const graph::TensorMeta& meta) {
  uint64_t bytes = dtype_size(meta.dtype);
  for (const graph::SymInt& size : meta.sizes) {
    const auto count = static_cast<uint64_t>(size.is_literal() ? size.literal() : 0);
    if (__builtin_mul_overflow(bytes, count, &bytes)) return UINT64_MAX;
  }
  return bytes;
}

void check_archive_programs(safety::Checker& checker) {
  checker.guarded("program", "", [&] {
    checker.check_programs(load_package(checker.file(), checker.mapping()),
                           [](const Model& model) { return model_record(model.name); });
  });
}

// What PyTorch unpickles of an exported program stands in tables: which payload is raw bytes and which a file
// of torch.save. Everything else has its name.
void check_package(safety::Checker& checker) {
  RecordJsonReader texts(checker.archive().zip());
  std::set<std::string, std::less<>> raw = {std::string(kFormat), std::string(kArchiveVersion)};
  std::set<std::string, std::less<>> saved;    // by torch.save
  std::set<std::string, std::less<>> pickled;  // by Python
  uint64_t zeros = 0;                          // what PyTorch makes for records without bytes
  const auto add_table = [&](const std::string& record, std::string_view folder) {
    if (!checker.archive().has(record)) return;
    raw.insert(record);
    checker.guarded("program", record, [&] {
      for (const Payload& payload : read_table(texts, checker.archive().get(record))) {
        std::string path = std::string(folder).append(payload.path);
        const zip::Entry* const entry = checker.archive().find(path);
        if (entry != nullptr && entry->size == 0 && payload.meta)
          zeros = std::max(zeros, bytes_of(*payload.meta));
        const bool is_object = folder == kConstants && payload.path.starts_with(kObjectPrefix);
        const bool is_opaque = folder == kConstants && payload.path.starts_with(kOpaquePrefix);
        (is_opaque ? pickled : payload.is_pickled || is_object ? saved : raw).insert(std::move(path));
      }
    });
  };
  for (const std::string_view name : checker.archive().names()) {
    if (!name.starts_with(kModels) || !name.ends_with(".json")) continue;
    const std::string model(name.substr(kModels.size(), name.size() - kModels.size() - 5));
    if (model.empty()) continue;
    raw.emplace(name);
    add_table(weights_config_record(model), kWeights);
    add_table(constants_config_record(model), kConstants);
    saved.insert(sample_inputs_record(model));
    saved.insert(fmt::format("{}{}.pt", kWeights, model));
    saved.insert(fmt::format("{}{}.pt", kConstants, model));
  }
  for (const std::string_view name : checker.archive().names()) {
    const zip::Entry& entry = checker.archive().get(name);
    // One record may be in both tables: then it is looked at in each way.
    if (saved.contains(name)) checker.check_payload(entry, false);
    if (pickled.contains(name)) checker.check_payload(entry, true);
    const bool is_known = raw.contains(name) || saved.contains(name) || pickled.contains(name);
    if (is_known || name.starts_with(kExtra) || checker.is_marker(name)) continue;
    if (is_part_of_compiled_model(name)) continue;
    checker.check_unaccounted(name, entry);
  }
  if (zeros > ExpansionBudget::kFree + ExpansionBudget::kFactor * checker.bytes().size()) {
    checker.find(
        Severity::kCaution, "program", "",
        fmt::format("has weights without values: loading it makes zeros of up to {} bytes for one", zeros),
        bit(Opening::kModel));
  }
  check_compiled_models(checker);
  check_archive_programs(checker);
}

void check_old_package(safety::Checker& checker) {
  constexpr std::string_view kSaved[] = {kZipStateDict, kZipConstants, kZipExampleInputs, kZipOldStateDict,
                                         kZipOldConstants};
  for (const std::string_view name : checker.archive().names()) {
    if (std::ranges::find(kSaved, name) != std::end(kSaved)) {
      checker.check_payload(checker.archive().get(name), false);
    } else if (name != kZipProgram && !name.starts_with(kZipExtra) && !checker.is_marker(name)) {
      checker.check_unaccounted(name, checker.archive().get(name));
    }
  }
  check_archive_programs(checker);
}

void check_lone_program(safety::Checker& checker) {
  checker.check_programs(load_package(checker.file(), checker.mapping()),
                         [](const Model& /*model*/) { return std::string(); });
}

}  // namespace
}  // namespace pt2

constinit const Format kPt2Format = {
    .name = "pt2",
    .description = "an exported program archive (.pt2, torch.export.save)",
    .fits_archive = pt2::is_package,
    .open = pt2::weights_of_programs,
    .has_structure = true,
    .read_programs = pt2::read_archive_layout,
    .inspect = pt2::inspect_package,
    .openings = bit(Opening::kModel),
    .check = pt2::check_package,
};

constinit const Format kPt2OldLayoutFormat = {
    .name = "pt2_old_layout",
    .description = "an exported program in the older layout (.pt2, before 2.8)",
    .fits_archive = pt2::is_old_package,
    .open = pt2::weights_of_programs,
    .has_structure = true,
    .read_programs = pt2::read_zip_layout,
    .inspect = pt2::inspect_old_package,
    .openings = bit(Opening::kModel),
    .check = pt2::check_old_package,
};

constinit const Format kProgramJsonFormat = {
    .name = "program_json",
    .description = "an exported program without its weights (JSON)",
    .fits = pt2::looks_like_program,
    .read_programs = pt2::read_program_json,
    .check = pt2::check_lone_program,
};

constinit const Format kProgramTextFormat = {
    .name = "program_text",
    .description = "an exported program without its weights (text)",
    .fits = pt2::looks_like_program_text,
    .read_programs = pt2::read_program_text,
    .check = pt2::check_lone_program,
};

}  // namespace flambeau
