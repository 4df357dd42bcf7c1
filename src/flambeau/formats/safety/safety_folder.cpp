// A folder as Hugging Face has them: shards, their index, settings, texts. One verdict for all of it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 10'000;

// The files below the folder, by their paths inside of it, sorted. Links to folders are not followed.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      std::error_code ignored;
      if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) continue;
      names.push_back(entry.path().lexically_relative(folder).string());
      if (names.size() > kMostFiles) {
        throw Error(ErrorCode::kLimit, fmt::format("the folder holds more than {} files", kMostFiles),
                    "check a smaller folder, or single files")
            .add_location("file", folder.string());
      }
    }
  } catch (const fs::filesystem_error& failure) {
    throw Error(ErrorCode::kIo, failure.code().message()).add_location("file", folder.string());
  }
  std::ranges::sort(names);
  return names;
}

class FolderChecker {
 public:
  FolderChecker(const std::string& folder, Progress& progress)
      : folder_(folder), names_(files_below(folder_)), progress_(progress) {}

  SafetyReport run() {
    // An index first: it says what its files are made of.
    const auto is_index = [](const std::string& name) {
      return name.ends_with(kDistributedFormat.model_file);
    };
    for (const bool indexes : {true, false}) {
      for (const std::string& name : names_) {
        if (is_index(name) == indexes && !made_of_parts_.contains(name)) check_or_say(name);
      }
    }
    if (report_.kind == FileKind::kUnknown)
      add(Severity::kCaution, "file", "", "the folder holds no file of a model that Flambeau knows");
    std::ranges::stable_sort(report_.findings, std::greater(), &Finding::severity);
    return std::move(report_);
  }

 private:
  void add(Severity severity, std::string topic, std::string record, std::string message) {
    report_.findings.push_back({severity, std::move(topic), std::move(record), std::move(message)});
  }

  void check_or_say(const std::string& name) {
    try {
      check(name);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      add(Severity::kDanger, "file", name, error.what());
    }
  }

  void check(const std::string& name) {
    // A pipe or a device could have no end, or keep whoever opens it waiting.
    std::error_code ignored;
    if (!fs::is_regular_file(folder_ / name, ignored))
      return add(Severity::kCaution, "file", name, "is no file, and nothing was read of it");
    if (name.ends_with(".py"))
      add(Severity::kCaution, "code", name, "source code, which whoever trusts the folder's code would run");
    const std::shared_ptr<Mapping> mapping = open_model_file((folder_ / name).string());
    SafetyReport found = check_file(mapping, progress_);
    report_.records_verified += found.records_verified;
    report_.pickles_read += found.pickles_read;
    if (format_of(found.kind).is_index()) {
      report_.kind = found.kind;
      check_parts(name, mapping, format_of(found.kind));
      check_index(name, mapping, found);
      if (found.findings.empty()) return;
    }
    if (found.kind == FileKind::kUnknown && found.findings.size() == 1) return check_other(name, *mapping);
    take_findings(name, found);
    if (!has_models_) report_.openings = found.openings;
    for (size_t i = 0; i < kOpenings; ++i) {
      if (found.openings[i].outcome > report_.openings[i].outcome) report_.openings[i] = found.openings[i];
    }
    has_models_ = true;
    if (!format_of(report_.kind).is_index()) report_.kind = found.kind;
  }

  // The files it leads to are in the folder, and so are checked.
  void check_index(const std::string& name, const std::shared_ptr<Mapping>& mapping, SafetyReport& found) {
    const fs::path beside = fs::path(name).parent_path();
    bool is_whole = true;
    for (const std::string& file : format_of(found.kind).files_beside(mapping)) {
      std::erase_if(found.findings, [&](const Finding& finding) {
        return finding.topic == "file" && finding.severity == Severity::kCaution && finding.record == file;
      });
      if (std::ranges::binary_search(names_, (beside / file).string())) continue;
      is_whole = false;
      add(Severity::kCaution, "file", name, fmt::format("leads to '{}', which is missing", printable(file)));
    }
    if (is_whole) load_checkpoint(mapping);  // throws where a file does not hold what the index says
  }

  void take_findings(const std::string& name, SafetyReport& found) {
    for (Finding& finding : found.findings) {
      finding.record = finding.record.empty() ? name : fmt::format("{} > {}", name, finding.record);
      report_.findings.push_back(std::move(finding));
    }
  }

  // The files inside of the files that an index names. What lies between them nobody asks for.
  void check_parts(const std::string& index, const std::shared_ptr<Mapping>& mapping, const Format& format) {
    if (format.parts_beside == nullptr) return;
    std::string name;
    std::shared_ptr<Mapping> file;
    uint64_t end = 0;
    const auto close = [&] {
      if (file != nullptr && end < file->size())
        add(Severity::kCaution, "file", name,
            fmt::format("{} bytes at its end are not in the index", file->size() - end));
    };
    for (const FilePart& part : format.parts_beside(mapping)) {
      const std::string beside = (fs::path(index).parent_path() / part.file).string();
      if (beside != name) {
        close();
        std::tie(name, file, end) = std::tuple(beside, nullptr, 0);
        std::error_code ignored;
        if (!fs::is_regular_file(folder_ / name, ignored)) continue;  // there is a finding that says it
        file = open_model_file((folder_ / name).string());
        made_of_parts_.insert(name);
      }
      if (file == nullptr) continue;
      if (part.offset > end) {
        add(Severity::kCaution, "file", name,
            fmt::format("{} bytes at byte {} are not in the index", part.offset - end, end));
      }
      if (part.offset > file->size() || part.length > file->size() - part.offset)
        return add(Severity::kDanger, "file", name, "is shorter than the index says");
      end = part.offset + part.length;
      check_part(fmt::format("{} > byte {}", name, part.offset),
                 Mapping::part(file, file->mutable_bytes().subspan(part.offset, part.length)));
    }
    close();
  }

  void check_part(const std::string& place, const std::shared_ptr<Mapping>& part) {
    safety::Checker checker(part, progress_);
    checker.set_payload();
    SafetyReport found = part->reading([&] { return checker.run(); });
    report_.records_verified += found.records_verified;
    report_.pickles_read += found.pickles_read;
    take_findings(place, found);
    for (size_t i = 0; i < kOpenings; ++i) {
      if (found.openings[i].outcome > report_.openings[i].outcome) report_.openings[i] = found.openings[i];
    }
  }

  // What is no file of a model: settings, tokenizers, texts, pictures.
  void check_other(const std::string& name, const Mapping& mapping) {
    const std::string_view text = as_text(mapping.bytes());
    const bool is_text = is_valid_utf8(text) && text.find('\0') == std::string_view::npos;
    if (!is_text) {
      return add(Severity::kCaution, "file", name, "is no file of a model, and nothing says what it is");
    }
    if (!name.ends_with(".py")) add(Severity::kInfo, "file", name, "is no file of a model: a text");
    if (name.ends_with(".json")) check_settings(name, text);
  }

  void check_settings(const std::string& name, std::string_view text) {
    try {
      const json::Value settings = json::parse(text);
      if (settings.is_object() && settings.find("auto_map") != nullptr)
        add(Severity::kCaution, "code", name, "names code that whoever trusts the folder's code would run");
    } catch (const Error&) {
      // Python reads more than JSON, such as keys that stand twice.
      if (text.find("auto_map") == std::string_view::npos) return;
      add(Severity::kCaution, "code", name, "may name code that whoever trusts the folder's code would run");
    }
  }

  const fs::path folder_;
  const std::vector<std::string> names_;
  Progress& progress_;
  SafetyReport report_;
  std::set<std::string> made_of_parts_;  // files that an index has accounted for
  bool has_models_ = false;
};

}  // namespace

SafetyReport check_folder(const std::string& folder, Progress& progress) {
  return FolderChecker(folder, progress).run();
}

}  // namespace flambeau
