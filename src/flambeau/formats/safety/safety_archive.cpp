// Zip archives: which records a format of PyTorch has, what is in them, and that there are no others.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/ascii.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/pt2/archive_names.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/payload_config.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/safety/safety_program.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau::safety {
namespace {

using pickle::Kind;
using pickle::Node;

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_elf(ByteSpan bytes) {
  return as_text(bytes).starts_with(
      "\x7f"
      "ELF");
}

// Names that readers of PyTorch ask for; they find them in any case.
bool is_asked_for(std::string_view lower) {
  constexpr std::string_view kAsked[] = {"data.pkl",       "constants.pkl",  "attributes.pkl", "bytecode.pkl",
                                         "version",        ".data/version",  "byteorder",      "model.json",
                                         "archive_format", "archive_version"};
  return std::ranges::find(kAsked, lower) != std::end(kAsked) || lower.starts_with("models/") ||
         lower.starts_with("code/") || lower.starts_with("serialized_");
}

std::vector<pt2::Payload> read_table(RecordJsonReader& texts, const zip::Entry& entry) {
  return texts.read(entry, [](std::string_view text, const json::Limits& limits) {
    return pt2::read_payload_config(text, limits);
  });
}

// The keys of storages that a torch.save pickle names.
std::set<std::string, std::less<>> storage_keys(const pickle::Tree& tree) {
  std::set<std::string, std::less<>> keys;
  for (const Node* node : tree.persistents()) {
    const Node& id = *node->persistent_id();
    if (!id.is(Kind::kTuple) || id.items().size() < 3) continue;
    if (id.items()[2]->is(Kind::kString)) keys.emplace(id.items()[2]->as_string());
  }
  return keys;
}

}  // namespace

void Checker::check_zip() {
  const bool is_sound = guarded("zip", "", [&] {
    RecognizedFile file = recognize_file(mapping_);
    archive_ = std::move(file.archive);
    report_.kind = file.kind;
  });
  if (!is_sound || is_bomb(archive_->zip())) return;
  check_checksums();
  check_names();
  switch (report_.kind) {
    case FileKind::kTorchSave:
      check_torch_save();
      break;
    case FileKind::kTorchScript:
    case FileKind::kTorchScriptMobile:
    case FileKind::kTorchScriptLegacy:
      check_torchscript();
      break;
    case FileKind::kPt2:
      check_package();
      break;
    case FileKind::kPt2OldLayout:
      check_old_package();
      break;
    case FileKind::kNpz:
      break;  // all its records are arrays, which are read below
    default:
      check_unknown_zip();
  }
  const bool has_tensors = file_kind_info(report_.kind).has_weights && !is_program_kind(report_.kind);
  if (has_tensors) guarded("tensors", "", [&] { load_checkpoint(mapping_); });
}

void Checker::check_checksums() {
  uint64_t total = 0;
  for (const zip::Entry& entry : archive_->zip().entries()) total += entry.size;
  progress_.begin("checking records", total);
  size_t without_checksum = 0;
  for (const zip::Entry& entry : archive_->zip().entries()) {
    if (inflates_too_much(archive_->zip(), entry)) {
      find(Severity::kCaution, "zip", entry.name,
           fmt::format(
               "inflates from {} to {} bytes, as an archive made to fill memory would: it was not read",
               entry.compressed_size, entry.size));
    } else if (guarded("checksum", entry.name, [&] { archive_->zip().verify(entry); })) {
      ++report_.records_verified;
    }
    if (!entry.has_crc()) ++without_checksum;
    advance_or_cancel(progress_, entry.size);
  }
  if (without_checksum > 0) {
    find(Severity::kInfo, "checksum", "",
         fmt::format("{} records were written without a checksum", without_checksum));
  }
}

// PyTorch compresses texts alone; what grows a hundredfold is made to fill memory. It is not unpacked.
bool Checker::is_bomb(const zip::Reader& zip) {
  uint64_t inflated = 0;
  for (const zip::Entry& entry : zip.entries()) {
    if (entry.method == zip::Method::kDeflated) inflated += entry.size;
  }
  constexpr uint64_t kHarmless = 64U << 20;
  if (inflated <= kHarmless || inflated / 100 <= mapping_->size()) return false;
  find(Severity::kDanger, "zip", "",
       fmt::format("compressed records would grow to {} bytes, {} times the file", inflated,
                   inflated / mapping_->size()));
  return true;
}

// PyTorch's reader finds records without regard to case; Python's does not.
void Checker::check_names() {
  std::unordered_map<std::string, std::string_view> seen;
  for (const zip::Entry& entry : archive_->zip().entries()) {
    const auto [other, is_new] = seen.try_emplace(lowered(entry.name), entry.name);
    if (is_new) continue;
    find(Severity::kDanger, "zip", entry.name,
         fmt::format("differs from '{}' in case alone: readers differ in which of the two they open",
                     printable(other->second)));
  }
  for (const std::string_view name : archive_->outside()) {
    const zip::Entry* const entry = archive_->zip().find(name);
    if (entry != nullptr && !name.ends_with('/')) check_unaccounted(name, *entry);
  }
}

std::shared_ptr<Mapping> Checker::contents(const zip::Entry& entry) {
  if (entry.method == zip::Method::kStored) {
    return Mapping::part(mapping_, mapping_->mutable_bytes().subspan(entry.data_offset, entry.size));
  }
  return Mapping::from_buffer(read_modest_record(archive_->zip(), entry));
}

// Records that every archive of PyTorch may have. They hold a short line of text.
bool Checker::is_marker(std::string_view name) {
  constexpr std::string_view kMarkers[] = {"version",         ".data/version",      "byteorder",
                                           ".format_version", ".storage_alignment", ".data/serialization_id"};
  if (std::ranges::find(kMarkers, name) == std::end(kMarkers)) return false;
  const std::string text = archive_->read_text(name);
  const bool is_plain = text.size() <= 64 && std::ranges::all_of(text, [](char c) {
                          return is_word(c) || c == '\n' || c == '.' || c == '-' || c == ' ';
                        });
  if (!is_plain) find(Severity::kDanger, "zip", name, "should hold a short text, and holds something else");
  return true;
}

void Checker::check_unaccounted(std::string_view name, const zip::Entry& entry) {
  const std::string lower = lowered(name);
  const std::string inside = lower.substr(lower.find('/') == std::string::npos ? 0 : lower.find('/') + 1);
  const bool is_library = lower.ends_with(".so") || lower.ends_with(".dll") || lower.ends_with(".dylib") ||
                          lower.ends_with(".pyd");
  if (is_library || lower.starts_with("data/aotinductor/")) {
    return find(Severity::kDanger, "library", entry.name,
                is_library ? "compiled code, which loading the model would run"
                           : "belongs to a compiled model, whose code loading would run",
                bit(Opening::kModel));
  }
  const size_t found_before = report_.findings.size();
  if (is_asked_for(lower) || is_asked_for(inside)) {
    find(Severity::kDanger, "zip", entry.name,
         "has a name that some reader of PyTorch asks for, and no place in a file of this kind");
  }
  if (inflates_too_much(archive_->zip(), entry)) return;  // there is a finding that says it
  check_unaccounted_bytes(entry);
  if (report_.findings.size() > found_before) return;
  find(Severity::kCaution, "zip", entry.name,
       "is no record of this kind of file, and nothing says what it is");
}

// Whatever unpickles may be unpickled, and whatever is a file may be opened.
void Checker::check_unaccounted_bytes(const zip::Entry& entry) {
  guarded("zip", entry.name, [&] {
    const std::shared_ptr<Mapping> inner = contents(entry);
    const ByteSpan bytes = inner->bytes();
    if (is_elf(bytes)) find(Severity::kDanger, "library", entry.name, "a program or shared library");
    if (lowered(entry.name).ends_with(".py")) {
      find(Severity::kDanger, "code", entry.name, "a source file, which using the file would run");
    }
    if (zip::looks_like_zip(bytes) || looks_like_torch_legacy(bytes)) {
      check_inner_file(entry, inner, kAnyOpening);
      return;
    }
    if (lowered(entry.name).ends_with(".pkl")) return check_pickle(bytes, entry.name);
    try {
      judge(pickle::parse(bytes, nullptr, limits_for(bytes)).tree, entry.name);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      judge_beginning(bytes, error, entry.name);
    }
  });
}

// ---- the kinds

void Checker::check_torch_save() {
  std::set<std::string, std::less<>> keys;
  guarded("pickle", "data.pkl", [&] {
    const std::shared_ptr<Mapping> inner = contents(archive_->get("data.pkl"));
    const std::string_view record = archive_->get("data.pkl").name;
    check_pickle(inner->bytes(), record);
    try {
      keys = storage_keys(pickle::parse(inner->bytes(), nullptr, limits_for(inner->bytes())).tree);
    } catch (const Error&) {
      return;  // there is a finding already
    }
  });
  for (const std::string_view name : archive_->names()) {
    const bool is_storage = name.starts_with("data/") && keys.contains(name.substr(5));
    if (name == "data.pkl" || is_storage || is_marker(name)) continue;
    check_unaccounted(name, archive_->get(name));
  }
}

void Checker::check_torchscript() {
  size_t code_files = 0;
  for (const std::string_view name : archive_->names()) {
    const zip::Entry& entry = archive_->get(name);
    if (name.starts_with("code/") && name.ends_with(".py")) ++code_files;
    if (inflates_too_much(archive_->zip(), entry)) continue;
    guarded("zip", entry.name, [&] {
      const std::shared_ptr<Mapping> inner = contents(entry);
      if (name.ends_with(".pkl")) return check_pickle(inner->bytes(), entry.name);
      if (is_elf(inner->bytes()) || name.ends_with(".so")) {
        find(Severity::kDanger, "library", entry.name, "compiled code, which loading the model would run");
      }
    });
  }
  // Mobile modules may have bytecode alone.
  find(Severity::kCaution, "code", "",
       code_files == 0
           ? std::string("a TorchScript module, which runs when it is loaded and called")
           : fmt::format("{} TorchScript code files, which run when the module is loaded and called",
                         code_files),
       bit(Opening::kFull) | bit(Opening::kModel));
  is_refused_by_weights_only_ = true;
}

void Checker::check_programs() {
  guarded("program", "", [&] {
    for (const pt2::Model& model : pt2::load_package({report_.kind, archive_}, mapping_).models) {
      check_program(model.program, [&](Severity severity, std::string message) {
        find(severity, "program", pt2::model_record(model.name), std::move(message), bit(Opening::kModel));
      });
    }
  });
}

// What PyTorch unpickles of an exported program stands in tables: which payload is raw bytes and which a file
// of torch.save. Everything else has its name.
void Checker::check_package() {
  RecordJsonReader texts(archive_->zip());
  std::set<std::string, std::less<>> raw = {std::string(pt2::kFormat), std::string(pt2::kArchiveVersion)};
  std::set<std::string, std::less<>> saved;    // by torch.save
  std::set<std::string, std::less<>> pickled;  // by Python
  const auto add_table = [&](const std::string& record, std::string_view folder) {
    if (!archive_->has(record)) return;
    raw.insert(record);
    guarded("program", record, [&] {
      for (const pt2::Payload& payload : read_table(texts, archive_->get(record))) {
        std::string path = std::string(folder).append(payload.path);
        const bool is_object = folder == pt2::kConstants && payload.path.starts_with(pt2::kObjectPrefix);
        const bool is_opaque = folder == pt2::kConstants && payload.path.starts_with(pt2::kOpaquePrefix);
        (is_opaque ? pickled : payload.is_pickled || is_object ? saved : raw).insert(std::move(path));
      }
    });
  };
  for (const std::string_view name : archive_->names()) {
    if (!name.starts_with(pt2::kModels) || !name.ends_with(".json")) continue;
    const std::string model(name.substr(pt2::kModels.size(), name.size() - pt2::kModels.size() - 5));
    if (model.empty()) continue;
    raw.emplace(name);
    add_table(pt2::weights_config_record(model), pt2::kWeights);
    add_table(pt2::constants_config_record(model), pt2::kConstants);
    saved.insert(pt2::sample_inputs_record(model));
    saved.insert(fmt::format("{}{}.pt", pt2::kWeights, model));
    saved.insert(fmt::format("{}{}.pt", pt2::kConstants, model));
  }
  for (const std::string_view name : archive_->names()) {
    const zip::Entry& entry = archive_->get(name);
    // One record may be in both tables: then it is looked at in each way.
    if (saved.contains(name)) check_payload(entry, false);
    if (pickled.contains(name)) check_payload(entry, true);
    const bool is_known = raw.contains(name) || saved.contains(name) || pickled.contains(name);
    if (is_known || name.starts_with(pt2::kExtra) || is_marker(name)) continue;
    check_unaccounted(name, entry);
  }
  check_programs();
}

void Checker::check_old_package() {
  constexpr std::string_view kSaved[] = {pt2::kZipStateDict, pt2::kZipConstants, pt2::kZipExampleInputs,
                                         pt2::kZipOldStateDict, pt2::kZipOldConstants};
  for (const std::string_view name : archive_->names()) {
    if (std::ranges::find(kSaved, name) != std::end(kSaved)) {
      check_payload(archive_->get(name), false);
    } else if (name != pt2::kZipProgram && !name.starts_with(pt2::kZipExtra) && !is_marker(name)) {
      check_unaccounted(name, archive_->get(name));
    }
  }
  check_programs();
}

void Checker::check_unknown_zip() {
  const bool is_package = report_.kind == FileKind::kTorchPackage;
  size_t code_files = 0;
  for (const std::string_view name : archive_->names()) {
    if (name.ends_with(".py")) ++code_files;
    if (!is_marker(name)) check_unaccounted(name, archive_->get(name));
  }
  if (is_package || code_files > 0) {
    find(Severity::kDanger, "code", "",
         fmt::format("{} source files, which using the file would run", code_files));
  }
  if (!is_package) {
    find(Severity::kCaution, "zip", "", "an archive of no known kind: nothing says what would open it");
  }
}

void Checker::check_payload(const zip::Entry& entry, bool is_bare_pickle) {
  if (entry.size == 0) return;  // PyTorch takes that for nothing
  if (inflates_too_much(archive_->zip(), entry)) return;
  guarded("zip", entry.name, [&] {
    const std::shared_ptr<Mapping> inner = contents(entry);
    if (is_bare_pickle) return check_pickle(inner->bytes(), entry.name);
    const size_t found_before = report_.findings.size();
    const FileKind kind = check_inner_file(entry, inner, bit(Opening::kModel));
    const bool is_saved = kind == FileKind::kTorchSave || kind == FileKind::kTorchSaveLegacy;
    if (is_saved || report_.findings.size() > found_before) return;
    find(Severity::kCaution, "zip", entry.name,
         fmt::format("should be a file of torch.save, and is {}", file_kind_info(kind).description),
         bit(Opening::kModel));
  });
}

FileKind Checker::check_inner_file(const zip::Entry& entry, const std::shared_ptr<Mapping>& inner,
                                   Openings affects) {
  if (depth_ >= 3) {
    find(Severity::kDanger, "zip", entry.name, "archives nested more than 3 deep");
    return FileKind::kUnknown;
  }
  Checker checker(inner, Progress::silent());
  checker.depth_ = depth_ + 1;
  checker.is_payload_ = true;
  SafetyReport report = checker.run();
  report_.pickles_read += report.pickles_read;
  for (Finding& finding : report.findings) {
    finding.record =
        finding.record.empty() ? std::string(entry.name) : fmt::format("{} > {}", entry.name, finding.record);
    finding.affects = affects;
    report_.findings.push_back(std::move(finding));
  }
  return report.kind;
}

}  // namespace flambeau::safety
