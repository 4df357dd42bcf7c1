#include "flambeau/formats/safety.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flambeau/archive/pickle_globals.h"
#include "flambeau/archive/pickle_reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/known_globals.h"
#include "flambeau/formats/pt2/archive_names.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/payload_config.h"
#include "flambeau/formats/record_pickle.h"

namespace flambeau {
namespace {

bool is_torchscript(FileKind kind) {
  return kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile ||
         kind == FileKind::kTorchScriptLegacy;
}

// Records of an exported program that PyTorch unpickles because of their names.
bool is_pickle_of_program(std::string_view name) {
  const auto is_below = [&](std::string_view folder) { return name.starts_with(folder); };
  if (is_below("serialized_")) return name != pt2::kZipProgram;
  if (is_below(pt2::kSampleInputs) || is_below(pt2::kWeights)) return name.ends_with(".pt");
  if (!is_below(pt2::kConstants)) return false;
  const std::string_view inner = name.substr(pt2::kConstants.size());
  return name.ends_with(".pt") || inner.starts_with(pt2::kOpaquePrefix) ||
         inner.starts_with(pt2::kObjectPrefix);
}

class Checker {
 public:
  Checker(const std::shared_ptr<Mapping>& mapping, Progress& progress)
      : mapping_(mapping), progress_(progress) {}

  SafetyReport run() {
    guarded("file", "", [&] {
      if (zip::looks_like_zip(mapping_->bytes())) {
        check_zip();
      } else {
        check_plain();
      }
    });
    // Worst first, otherwise in the order of discovery.
    std::vector<Finding> sorted;
    for (const Severity severity : {Severity::kDanger, Severity::kCaution, Severity::kInfo}) {
      for (Finding& finding : report_.findings) {
        if (finding.severity == severity) sorted.push_back(std::move(finding));
      }
    }
    report_.findings = std::move(sorted);
    return std::move(report_);
  }

 private:
  void find(Severity severity, std::string topic, std::string_view record, std::string message) {
    report_.findings.push_back({severity, std::move(topic), std::string(record), std::move(message)});
  }

  // An Error of the readers is a finding.
  template <typename Body>
  bool guarded(std::string_view topic, std::string_view record, Body&& body) {
    try {
      body();
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      find(Severity::kDanger, std::string(topic), record, error.what());
      return false;
    }
  }

  void check_zip() {
    const std::shared_ptr<const RecordArchive>& archive = archive_;
    const bool is_sound = guarded("zip", "", [&] {
      RecognizedFile file = recognize_file(mapping_);
      archive_ = std::move(file.archive);
      report_.kind = file.kind;
    });
    if (!is_sound || is_bomb(archive->zip())) return;
    uint64_t total = 0;
    for (const zip::Entry& entry : archive->zip().entries()) total += entry.size;
    progress_.begin("checking records", total);
    size_t without_checksum = 0;
    for (const zip::Entry& entry : archive->zip().entries()) {
      if (inflates_too_much(archive->zip(), entry)) {
        find(Severity::kCaution, "zip", entry.name,
             fmt::format(
                 "inflates from {} to {} bytes, as an archive made to fill memory would: it was not read",
                 entry.compressed_size, entry.size));
      } else if (guarded("checksum", entry.name, [&] { archive->zip().verify(entry); })) {
        ++report_.records_verified;
      }
      if (!entry.has_crc()) ++without_checksum;
      advance_or_cancel(progress_, entry.size);
    }
    if (without_checksum > 0) {
      find(Severity::kInfo, "checksum", "",
           fmt::format("{} records were written without a checksum", without_checksum));
    }
    check_records();
    if (report_.kind == FileKind::kPt2 || report_.kind == FileKind::kPt2OldLayout) list_program_pickles();
    for (const zip::Entry& entry : archive->zip().entries()) check_record_bytes(*archive, entry);
    if (file_kind_info(report_.kind).has_weights) guarded("tensors", "", [&] { load_checkpoint(mapping_); });
  }

  // PyTorch compresses texts alone; what grows a hundredfold is made to fill memory. It is not unpacked.
  bool is_bomb(const zip::Reader& zip) {
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

  void check_records() {
    size_t code_files = 0;
    for (const RecordInfo& record : list_records(mapping_)) {
      if (record.role == RecordRole::kLibrary) {
        find(Severity::kDanger, "library", record.name, "compiled code, which loading the model would run");
      }
      if (record.role == RecordRole::kCode) ++code_files;
    }
    if (is_torchscript(report_.kind)) {  // mobile modules may have bytecode alone
      find(Severity::kCaution, "code", "",
           code_files == 0
               ? std::string("a TorchScript module, which runs when it is loaded and called")
               : fmt::format("{} TorchScript code files, which run when the module is loaded and called",
                             code_files));
    } else if (code_files > 0) {
      find(Severity::kDanger, "code", "",
           fmt::format("{} source files, which using the file would run", code_files));
    }
  }

  // What PyTorch unpickles of an exported program, whatever its bytes look like: by the names of the records,
  // and by what the tables of weights and constants say.
  void list_program_pickles() {
    RecordJsonReader texts(archive_->zip());
    for (const std::string_view name : archive_->names()) {
      const zip::Entry& entry = archive_->get(name);
      if (is_pickle_of_program(name)) unpickled_.insert(&entry);
      const bool is_weights = name.starts_with(pt2::kWeights);
      if (!name.ends_with("_config.json") || (!is_weights && !name.starts_with(pt2::kConstants))) continue;
      try {
        const std::vector<pt2::Payload> payloads =
            texts.read(entry, [](std::string_view text, const json::Limits& limits) {
              return pt2::read_payload_config(text, limits);
            });
        for (const pt2::Payload& payload : payloads) {
          const std::string_view folder = is_weights ? pt2::kWeights : pt2::kConstants;
          const zip::Entry* const record = archive_->find(std::string(folder).append(payload.path));
          if (payload.is_pickled && record != nullptr) unpickled_.insert(record);
        }
      } catch (const Error&) {
        continue;  // reading the program, which comes later, says what is wrong with the table
      }
    }
  }

  // Not only records that are called .pkl are unpickled: torch.package and .pt2 files name them as they like.
  void check_record_bytes(const RecordArchive& archive, const zip::Entry& entry) {
    if (entry.name.ends_with(".debug_pkl"))
      return;  // source positions; read apart, never by a Python unpickler
    const bool is_stored = entry.method == zip::Method::kStored;
    const bool is_named = entry.name.ends_with(".pkl");
    if (entry.size < 4) return;
    std::shared_ptr<Mapping> inside;
    if (is_stored) {
      inside = Mapping::part(mapping_, mapping_->mutable_bytes().subspan(entry.data_offset, entry.size));
    } else {
      try {
        inside = Mapping::from_buffer(read_modest_record(archive.zip(), entry));
      } catch (const Error&) {
        return;  // there is a finding of the zip that says it already
      }
    }
    const ByteSpan bytes = inside->bytes();
    if (is_named) return check_pickle(bytes, entry.name, true);
    if (as_text(bytes).starts_with("\x7f"
                                   "ELF") &&
        !entry.name.ends_with(".so")) {
      find(Severity::kDanger, "library", entry.name, "a program or shared library under another name");
    }
    // Python's unpickler does not mind what follows: a pickle may have an archive behind it.
    const bool is_unpickled = unpickled_.contains(&entry) && !as_text(bytes).starts_with("PK\x03\x04") &&
                              !looks_like_torch_legacy(bytes) && !looks_like_torch_tar(bytes);
    if (is_unpickled) check_pickle(bytes, entry.name, true);
    if (zip::looks_like_zip(bytes) || looks_like_torch_legacy(bytes) || looks_like_torch_tar(bytes)) {
      return check_inner_file(entry, inside);
    }
    if (is_unpickled || bytes[0] != 0x80 || bytes[1] > 5) return;
    if (bytes.back() == '.') return check_pickle(bytes, entry.name, false);
    // Weights may begin like this by chance; but what unpickles does so whatever follows.
    try {
      judge(pickle::parse(bytes, nullptr, limits_for(bytes)).tree, entry.name);
    } catch (const Error&) {
      return;
    }
  }

  // The weights of older .pt2 files are torch.save files inside of the archive.
  void check_inner_file(const zip::Entry& entry, const std::shared_ptr<Mapping>& inner) {
    if (depth_ >= 3) return find(Severity::kDanger, "zip", entry.name, "archives nested more than 3 deep");
    Checker checker(inner, Progress::silent());
    checker.depth_ = depth_ + 1;
    SafetyReport report = checker.run();
    report_.pickles_read += report.pickles_read;
    for (Finding& finding : report.findings) {
      finding.record = finding.record.empty() ? std::string(entry.name)
                                              : fmt::format("{} > {}", entry.name, finding.record);
      report_.findings.push_back(std::move(finding));
    }
  }

  // What inflated may take memory by the size of the file, not by what it inflated to.
  pickle::Limits limits_for(ByteSpan bytes) const {
    pickle::Limits limits;
    limits.fixed_bytes += limits.bytes_per_input_byte * std::min<uint64_t>(bytes.size(), mapping_->size());
    limits.bytes_per_input_byte = 0;
    return limits;
  }

  void check_pickle(ByteSpan bytes, std::string_view record, bool must_parse) {
    pickle::Tree tree;
    try {
      tree = pickle::parse(bytes, nullptr, limits_for(bytes)).tree;
    } catch (const Error& error) {
      if (must_parse) find(Severity::kDanger, "pickle", record, error.what());
      return judge_beginning(bytes, error, record);
    }
    judge(tree, record);
  }

  // Python acts on a pickle while it reads: what stands before the place where it breaks still happens.
  void judge_beginning(ByteSpan bytes, const Error& error, std::string_view record) {
    size_t broken_at = 0;
    for (const Location& location : error.locations()) {
      if (location.kind == "byte") broken_at = std::stoull(location.value);
    }
    if (broken_at < 4) return;  // no name fits in there
    // Ends the pickle at that place; what follows stays as it is, for frames count their bytes.
    const ByteSpan kept = bytes.first(std::min<size_t>(bytes.size(), broken_at + (16U << 20)));
    std::vector<uint8_t> beginning(kept.begin(), kept.end());
    beginning.resize(std::max(beginning.size(), broken_at + 2));
    beginning[broken_at] = 'N';
    beginning[broken_at + 1] = '.';
    try {
      judge(pickle::parse(beginning, nullptr, limits_for(beginning)).tree, record);
    } catch (const Error&) {
      find(Severity::kDanger, "pickle", record, "begins like a pickle that is made to break its readers");
    }
  }

  // TorchScript finds the classes of its pickles in the archive's own code, whatever their names are.
  GlobalVerdict verdict_on(const pickle::Node::GlobalName& name) const {
    const GlobalVerdict verdict = judge_global(name, is_torchscript(report_.kind));
    if (verdict != GlobalVerdict::kUnknown || !archive_ || !is_torchscript(report_.kind)) return verdict;
    std::string record = fmt::format("code/{}.py", name.module);
    std::replace(record.begin(), record.end() - 3, '.', '/');
    return archive_->has(record) ? GlobalVerdict::kTorchScript : verdict;
  }

  void judge(const pickle::Tree& tree, std::string_view record) {
    constexpr size_t kMostNames = 1000;  // a file with more is told by them
    ++report_.pickles_read;
    size_t unseen = 0;
    for (const pickle::GlobalUse& used : pickle::list_globals(tree)) {
      const GlobalVerdict verdict = verdict_on(used.name);
      if (verdict == GlobalVerdict::kData || verdict == GlobalVerdict::kTorchScript) continue;
      if (seen_.size() >= kMostNames) {
        ++unseen;
        continue;
      }
      const std::string name = printable(used.name.dotted());
      if (!seen_.emplace(record, name).second) continue;
      const std::string_view use = used.called ? "import and call" : "import";
      if (verdict == GlobalVerdict::kDangerous) {
        find(Severity::kDanger, "pickle", record,
             fmt::format("unpickling would {} {}, which can run anything", use, name));
      } else if (verdict == GlobalVerdict::kUnknown) {
        find(Severity::kDanger, "pickle", record,
             fmt::format("unpickling would {} {}, which is not on the list of names that only build data",
                         use, name));
      } else {
        find(Severity::kInfo, "pickle", record, fmt::format("holds NumPy values ({})", name));
      }
    }
    if (unseen > 0)
      find(Severity::kDanger, "pickle", record, fmt::format("unpickling would import {} more names", unseen));
  }

  void check_plain() {
    report_.kind = recognize(mapping_);
    const ByteSpan bytes = mapping_->bytes();
    switch (report_.kind) {
      case FileKind::kPickle:
        return check_pickle(bytes, "", true);
      case FileKind::kTorchSaveLegacy:
        CheckpointBuilder::from_torch(report_.kind, read_torch_legacy(mapping_, judges()), mapping_->size());
        return;
      case FileKind::kTorchSaveTar:
        check_tar_members(bytes);
        CheckpointBuilder::from_torch(report_.kind, read_torch_tar(mapping_, judges()), mapping_->size());
        return;
      case FileKind::kSafetensors:
        load_checkpoint(mapping_);
        return check_pickle(bytes, "",
                            false);  // a file can be both, and torch.load would take it as a pickle
      case FileKind::kNpy:
        load_checkpoint(mapping_);
        return;
      case FileKind::kProgramJson:
      case FileKind::kProgramText:
        pt2::read_package(mapping_);
        return;
      case FileKind::kMobileFlatBuffer:
        return find(Severity::kCaution, "code", "", "mobile bytecode, which runs when the module is called");
      default: {
        const std::string_view foreign = foreign_kind(bytes);
        return find(Severity::kDanger, "file", "",
                    foreign.empty() ? std::string("the bytes fit no kind of file that Flambeau knows")
                                    : fmt::format("this is {}, not a file of PyTorch", foreign));
      }
    }
  }

  PickleVisitor judges() {
    return [this](const pickle::Tree& tree, std::string_view place) { judge(tree, place); };
  }

  // Python's tar reader lets links and extended headers change names and contents.
  void check_tar_members(ByteSpan bytes) {
    for (const tar::Member& member : tar::read_other_members(bytes)) {
      find(Severity::kDanger, "tar", member.name,
           "is no plain file: it could pass for another member, which torch.save never wrote");
    }
  }

  const std::shared_ptr<Mapping>& mapping_;
  Progress& progress_;
  SafetyReport report_;
  std::shared_ptr<const RecordArchive> archive_;
  std::set<const zip::Entry*> unpickled_;               // see list_program_pickles()
  std::set<std::pair<std::string, std::string>> seen_;  // records and names
  int depth_ = 0;
};

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kCaution:
      return "caution";
    case Severity::kDanger:
      return "danger";
  }
  return "info";
}

bool SafetyReport::is_harmless() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::kInfo; });
}

SafetyReport check_safety(const std::shared_ptr<Mapping>& mapping, Progress& progress) {
  return mapping->reading([&] { return Checker(mapping, progress).run(); });
}

}  // namespace flambeau
