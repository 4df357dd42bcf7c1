#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "flambeau/archive/elf/reader.h"
#include "flambeau/archive/json/json.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/compiled.h"
#include "flambeau/formats/compiled/compiled_records.h"
#include "flambeau/formats/compiled/compiled_source.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/record_pickle.h"

namespace flambeau {
namespace {

// What reaches outside of the process. Models take none of these; `getenv` and `fopen` some do.
constexpr std::string_view kSystemFunctions[] = {"accept",      "bind",
                                                 "clone",       "connect",
                                                 "dlmopen",     "dlopen",
                                                 "dlsym",       "execl",
                                                 "execle",      "execlp",
                                                 "execv",       "execve",
                                                 "execvp",      "execvpe",
                                                 "fexecve",     "fork",
                                                 "kill",        "listen",
                                                 "mprotect",    "popen",
                                                 "prctl",       "process_vm_writev",
                                                 "ptrace",      "recv",
                                                 "recvfrom",    "recvmsg",
                                                 "remove",      "rename",
                                                 "rmdir",       "send",
                                                 "sendmsg",     "sendto",
                                                 "setuid",      "socket",
                                                 "symlink",     "syscall",
                                                 "system",      "unlink",
                                                 "unlinkat",    "vfork",
                                                 "posix_spawn", "posix_spawnp",
                                                 "chmod",       "chown",
                                                 "open",        "open64",
                                                 "openat",      "creat",
                                                 "fopen",       "fopen64"};

bool is_of_host(std::string_view name) {
  return name.starts_with("aoti_") || name.starts_with("torch_") || name.starts_with("Sleef_");
}

// {"GLIBC", {2, 34}} of "GLIBC_2.34"; nothing of other names.
struct Version {
  std::string family;
  std::vector<uint32_t> numbers;
};
Version version_of(std::string_view text) {
  Version version;
  const size_t bar = text.rfind('_');
  if (bar == std::string_view::npos) return version;
  uint32_t number = 0;
  for (const char c : text.substr(bar + 1)) {
    if (c == '.') {
      version.numbers.push_back(std::exchange(number, 0));
    } else if (c < '0' || c > '9' || number > 1'000'000) {
      return {};
    } else {
      number = number * 10 + static_cast<uint32_t>(c - '0');
    }
  }
  version.numbers.push_back(number);
  version.family = text.substr(0, bar);
  return version;
}

void describe(const elf::Library& elf, CompiledLibrary& library, DescriptionBudget& budget) {
  library.machine = elf.machine;
  library.is_shared = elf.is_shared;
  const auto add = [&](std::string_view name, std::vector<std::string>& list) {
    budget.charge(64 + 2 * name.size());
    list.emplace_back(name);
  };
  for (const std::string_view name : elf.needed) add(name, library.needed);
  for (const std::string_view path : elf.search_paths) add(path, library.search_paths);
  std::map<std::string, std::pair<std::vector<uint32_t>, std::string>> newest;
  for (const elf::VersionNeed& need : elf.versions) {
    Version version = version_of(need.version);
    if (version.family.empty()) continue;
    auto& best = newest[version.family];
    if (best.first < version.numbers) best = {std::move(version.numbers), std::string(need.version)};
  }
  for (const auto& [family, best] : newest) library.versions.push_back(best.second);
  for (const elf::Symbol& symbol : elf.imports) {
    if (is_of_host(symbol.name)) {
      add(symbol.name, library.host_functions);
    } else if (std::ranges::find(kSystemFunctions, symbol.name) != std::end(kSystemFunctions)) {
      add(symbol.name, library.system_functions);
    } else {
      ++library.other_imports;
    }
  }
  std::ranges::sort(library.host_functions);
  std::ranges::sort(library.system_functions);
  library.exports = elf.exports.size();
  library.run_by_loading = elf.initializers + elf.indirect_relocations;
  library.has_text_relocations = elf.has_text_relocations;
  library.has_executable_stack = elf.has_executable_stack;
}

class ModelsReader {
 public:
  explicit ModelsReader(const RecordArchive& archive)
      : archive_(archive), texts_(archive.zip()), budget_(archive.zip().mapping()->size()) {}

  std::vector<CompiledModel> run() {
    for (const std::string_view name : archive_.names()) {
      const std::optional<CompiledRecord> record = compiled_record(name);
      if (!record) continue;
      budget_.charge(64 + name.size());
      CompiledModel& model = models_[std::string(record->model)];
      model.name = record->model;
      try {
        read_record(model, std::string(name), record->file);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kCancelled) throw;
        model.notes.push_back(fmt::format("{}: {}", record->file, error.message()));
      }
    }
    std::vector<CompiledModel> result;
    for (auto& [name, model] : models_) {
      model.is_source_only = model.libraries.empty() && flags_.contains(name);
      result.push_back(std::move(model));
    }
    return result;
  }

 private:
  void read_record(CompiledModel& model, const std::string& name, std::string_view file) {
    if (file.ends_with(".so")) {
      read_library(model, name);
    } else if (file.ends_with("_flags.json")) {
      flags_.insert(model.name);
    } else if (file.ends_with("_metadata.json")) {
      read_metadata(model, name);
    } else if (file.ends_with(".wrapper.cpp") || (file.ends_with(".cpp") && !file.ends_with(".kernel.cpp"))) {
      read_compiled_source(archive_.read_text(name), model, budget_);
    }
  }

  void read_library(CompiledModel& model, const std::string& name) {
    const zip::Entry& entry = archive_.get(name);
    CompiledLibrary& library = model.libraries.emplace_back();
    library.record = name;
    library.bytes = entry.size;
    try {
      std::vector<uint8_t> inflated;
      ByteSpan bytes;
      if (entry.method == zip::Method::kStored) {
        bytes = archive_.zip().view(entry);
      } else {
        inflated = read_modest_record(archive_.zip(), entry);
        bytes = inflated;
      }
      describe(elf::read(bytes), library, budget_);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      library.problem = error.message();
    }
  }

  void read_metadata(CompiledModel& model, const std::string& name) {
    const json::Value value = texts_.read(
        archive_.get(name),
        [](std::string_view given, const json::Limits& limits) { return json::parse(given, limits); });
    if (!value.is_object()) {
      model.notes.push_back(fmt::format("{} holds no object", name));
      return;
    }
    for (const auto& [key, text] : value.as_object()) {
      // The wrapper and each kernel say the same.
      if (!text.is_string() || !keys_.emplace(model.name, key).second) continue;
      budget_.charge(256 + 2 * (key.size() + text.as_string().size()));
      model.metadata.emplace_back(key, text.as_string());
      if (key == "AOTI_DEVICE_KEY") model.device = text.as_string();
    }
  }

  const RecordArchive& archive_;
  RecordJsonReader texts_;
  DescriptionBudget budget_;
  std::set<std::pair<std::string, std::string>> keys_;  // of the metadata, by model
  std::map<std::string, CompiledModel> models_;
  std::set<std::string> flags_;  // models with words for a compiler
};

}  // namespace

std::optional<CompiledRecord> compiled_record(std::string_view name) {
  constexpr std::string_view kFolder = "data/aotinductor/";
  if (!name.starts_with(kFolder)) return std::nullopt;
  name.remove_prefix(kFolder.size());
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return CompiledRecord{{}, name};
  return CompiledRecord{name.substr(0, slash), name.substr(slash + 1)};
}

std::vector<CompiledModel> read_compiled_models(const RecordArchive& archive) {
  return ModelsReader(archive).run();
}

}  // namespace flambeau
