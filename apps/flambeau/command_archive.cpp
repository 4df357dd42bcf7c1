// flambeau list and extract: the records of an archive.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/report.h"
#include "output_stream.h"
#include "reports.h"

namespace flambeau::cli {
namespace {

struct ListOptions {
  std::string file;
};

struct ExtractOptions {
  std::string file;
  std::vector<std::string> records;  // empty: all
  std::string output;                // a file for one record, a folder for several; "-" for standard output
};

// The reader refuses such names already; a file is never written by a name that leaves its folder.
bool is_clean(const std::string& name) {
  const std::filesystem::path path(name);
  if (path.empty() || path.is_absolute()) return false;
  for (const auto& part : path) {
    if (part == ".." || part == ".") return false;
  }
  return name.find('\\') == std::string::npos && name.find('\0') == std::string::npos && !name.ends_with('/');
}

void write_to_stdout(const std::vector<uint8_t>& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorCode::kIo, "standard output cannot be written");
  }
}

void save(const std::string& path, const std::vector<uint8_t>& bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    throw Error(ErrorCode::kIo, fmt::format("the folder '{}' cannot be made: {}",
                                            printable(path.string(), 400), error.message()));
  }
}

std::string last_part(const std::string& name) { return std::filesystem::path(name).filename().string(); }

std::vector<std::string> names_to_extract(const std::shared_ptr<Mapping>& mapping,
                                          const ExtractOptions& options) {
  if (!options.records.empty()) return options.records;
  std::vector<std::string> names;
  for (const RecordInfo& record : list_records(mapping)) {
    if (!record.name.ends_with('/')) names.push_back(record.name);
  }
  return names;
}

int run_list(const ListOptions& options, const CommonOptions& common) {
  const std::shared_ptr<Mapping> mapping = open_model_file(options.file);
  const std::vector<RecordInfo> records = with_location("file", options.file, [&] {
    std::vector<RecordInfo> found = list_records(mapping);
    if (found.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "is not an archive: it has no records",
                  "'flambeau inspect' shows what it is");
    }
    return found;
  });
  if (common.json) {
    print_json(report::of_records(records));
  } else {
    print_records(records, 0);
  }
  return kExitOk;
}

int run_extract(const ExtractOptions& options, const CommonOptions& common) {
  const std::shared_ptr<Mapping> mapping = open_model_file(options.file);
  return with_location("file", options.file, [&] {
    const std::vector<std::string> names = names_to_extract(mapping, options);
    const RecordExtractor extractor(mapping);
    if (is_standard_output(options.output)) {
      for (const std::string& name : names) write_to_stdout(extractor.extract(name));
      return kExitOk;
    }
    // One record asked for by name: a file. Several, or all: a folder with the archive's own layout.
    const bool is_single = options.records.size() == 1;
    json::Array written;
    for (const std::string& name : names) {
      if (!is_clean(name)) {
        throw Error(ErrorCode::kUnsafe, fmt::format("the record '{}' has an unsafe name", printable(name)),
                    "write it to standard output with '-o -'");
      }
      const std::vector<uint8_t> bytes = extractor.extract(name);
      std::filesystem::path target;
      if (is_single) {
        target = options.output.empty() ? last_part(name) : options.output;
        if (std::filesystem::is_directory(target)) target /= last_part(name);
      } else {
        target = std::filesystem::path(options.output.empty() ? "." : options.output) / name;
        make_folder(target.parent_path());
      }
      save(target.string(), bytes);
      json::Value entry;
      entry.set("record", name);
      entry.set("file", target.string());
      entry.set("bytes", static_cast<uint64_t>(bytes.size()));
      written.push_back(std::move(entry));
      if (!common.json && !common.quiet)
        fmt::print("{} -> {}\n", printable(name), printable(target.string(), 400));
    }
    if (common.json) print_json(json::Value(std::move(written)));
    return kExitOk;
  });
}

}  // namespace

Command list_command() {
  auto options = std::make_shared<ListOptions>();
  return {"list",
          "List the records of an archive",
          {Option("FILE", "An archive: .pt, .ptl, .pt2, .npz; - is standard input", &options->file)
               .required()
               .takes(Takes::kInput)},
          {{"list model.pt", "names and sizes of what is inside"}, {"list --json model.pt2", "for scripts"}},
          [options](const CommonOptions& common) { return run_list(*options, common); }};
}

Command extract_command() {
  auto options = std::make_shared<ExtractOptions>();
  return {"extract",
          "Write records of an archive to files",
          {
              Option("FILE", "An archive: .pt, .ptl, .pt2, .npz; - is standard input", &options->file)
                  .required()
                  .takes(Takes::kInput),
              Option("RECORD",
                     "Names as 'flambeau list' shows them, with or without the top folder (default: all)",
                     &options->records),
              Option("-o,--output", "A file for one record, a folder for more, - for standard output",
                     &options->output)
                  .takes(Takes::kOutput),
          },
          {{"extract model.pt data.pkl -o -", "one record, to standard output"},
           {"extract model.pt data/0", "one, to the file '0'"},
           {"extract model.pt -o records", "all of them, in the archive's own folders"}},
          [options](const CommonOptions& common) { return run_extract(*options, common); }};
}

}  // namespace flambeau::cli
