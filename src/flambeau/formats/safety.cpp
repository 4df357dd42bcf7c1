#include "flambeau/formats/safety.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flambeau/archive/pickle_globals.h"
#include "flambeau/archive/pickle_reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/known_globals.h"
#include "flambeau/formats/record_pickle.h"

namespace flambeau {
namespace {

bool is_torchscript(FileKind kind) {
  return kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile ||
         kind == FileKind::kTorchScriptLegacy;
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
    std::shared_ptr<const RecordArchive> archive;
    const bool is_sound = guarded("zip", "", [&] {
      archive = std::make_shared<const RecordArchive>(RecordArchive::open(mapping_));
      report_.kind = recognize(mapping_);
    });
    if (!is_sound) return;
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
    for (const zip::Entry& entry : archive->zip().entries()) check_record_bytes(*archive, entry);
    if (file_kind_info(report_.kind).has_weights) guarded("tensors", "", [&] { load_checkpoint(mapping_); });
  }

  void check_records() {
    size_t code_files = 0;
    for (const RecordInfo& record : list_records(mapping_)) {
      if (record.role == RecordRole::kLibrary) {
        find(Severity::kDanger, "library", record.name, "compiled code, which loading the model would run");
      }
      if (record.role == RecordRole::kCode) ++code_files;
    }
    if (code_files == 0) return;
    if (is_torchscript(report_.kind)) {
      find(Severity::kCaution, "code", "",
           fmt::format("{} TorchScript code files, which run when the module is loaded and called",
                       code_files));
    } else {
      find(Severity::kDanger, "code", "",
           fmt::format("{} source files, which using the file would run", code_files));
    }
  }

  // Not only records that are called .pkl are unpickled: torch.package and .pt2 files name them as they like.
  void check_record_bytes(const RecordArchive& archive, const zip::Entry& entry) {
    if (entry.name.ends_with(".debug_pkl"))
      return;  // source positions; read apart, never by a Python unpickler
    const bool named = entry.name.ends_with(".pkl");
    if (!named && (entry.size < 4 || entry.size > (64U << 20))) return;
    std::vector<uint8_t> bytes;
    try {
      if (!named) {
        const std::vector<uint8_t> head = archive.zip().read_start(entry, 4);
        if (zip::looks_like_zip(head) && entry.method == zip::Method::kStored) return check_inner_zip(entry);
        if (head[0] != 0x80 || head[1] > 5) return;
      }
      bytes = read_modest_record(archive.zip(), entry);
    } catch (const Error&) {
      return;  // there is a finding of the zip that says it already
    }
    pickle::Tree tree;
    try {
      tree = parse_record_pickle(archive.zip(), std::move(bytes));
    } catch (const Error& error) {
      if (named) find(Severity::kDanger, "pickle", entry.name, error.what());
      return;
    }
    ++report_.pickles_read;
    judge(tree, entry.name);
  }

  // The weights of older .pt2 files are torch.save files inside of the archive.
  void check_inner_zip(const zip::Entry& entry) {
    if (depth_ >= 3) return find(Severity::kDanger, "zip", entry.name, "archives nested more than 3 deep");
    const std::shared_ptr<Mapping> inner =
        Mapping::borrow(mapping_->mutable_bytes().subspan(entry.data_offset, entry.size), mapping_);
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

  void judge(const pickle::Tree& tree, std::string_view record) {
    constexpr size_t kMostNames = 1000;  // a file with more is told by them
    std::set<std::string> seen;
    size_t unseen = 0;
    for (const pickle::GlobalUse& used : pickle::list_globals(tree)) {
      const GlobalVerdict verdict = judge_global(used.name, is_torchscript(report_.kind));
      if (verdict == GlobalVerdict::kData || verdict == GlobalVerdict::kTorchScript) continue;
      if (seen.size() == kMostNames) {
        ++unseen;
        continue;
      }
      const std::string name = printable(used.name.dotted());
      if (!seen.insert(name).second) continue;
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
      case FileKind::kPickle: {
        guarded("pickle", "", [&] {
          const pickle::Tree tree = pickle::parse(bytes, mapping_).tree;
          ++report_.pickles_read;
          judge(tree, "");
        });
        return;
      }
      case FileKind::kTorchSaveLegacy:
      case FileKind::kTorchSaveTar: {
        const Checkpoint checkpoint = load_checkpoint(mapping_);
        report_.pickles_read += 1;
        return judge(checkpoint.tree(), "");
      }
      case FileKind::kSafetensors:
      case FileKind::kNpy: {
        load_checkpoint(mapping_);
        return;
      }
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

  const std::shared_ptr<Mapping>& mapping_;
  Progress& progress_;
  SafetyReport report_;
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
  return Checker(mapping, progress).run();
}

}  // namespace flambeau
