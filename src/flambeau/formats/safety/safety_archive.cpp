// Zip archives: which records a format of PyTorch has, what is in them, and that there are no others.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/archive/elf/reader.h"
#include "flambeau/base/ascii.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau::safety {
namespace {

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// Names that readers of PyTorch ask for; they find them in any case.
bool is_asked_for(std::string_view lower) {
  constexpr std::string_view kAsked[] = {"data.pkl",       "constants.pkl",  "attributes.pkl", "bytecode.pkl",
                                         "version",        ".data/version",  "byteorder",      "model.json",
                                         "archive_format", "archive_version"};
  return std::ranges::find(kAsked, lower) != std::end(kAsked) || lower.starts_with("models/") ||
         lower.starts_with("code/") || lower.starts_with("serialized_");
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
  if (format().check != nullptr) {
    format().check(*this);
  } else {
    check_unknown_zip();
  }
  const bool has_tensors = format().has_weights() && !format().has_programs();
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
    if (elf::looks_like_elf(bytes))
      find(Severity::kDanger, "library", entry.name, "a program or shared library");
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
    const bool is_saved = (format_of(kind).openings & bit(Opening::kWeightsOnly)) != 0;
    if (is_saved || report_.findings.size() > found_before) return;
    find(Severity::kCaution, "zip", entry.name,
         fmt::format("should be a file of torch.save, and is {}", format_of(kind).description),
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
  checker.set_payload();
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
