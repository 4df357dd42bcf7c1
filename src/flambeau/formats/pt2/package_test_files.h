// For the tests of .pt2 files: golden ones, their records, and archives made of changed records.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/formats/pt2/package.h"

namespace flambeau::pt2 {

inline std::string golden_path(std::string_view name) {
  return std::string(FLAMBEAU_GOLDEN_DIR "/pt2/").append(name).append(".pt2");
}

// Sorted names of the golden files, without the ending.
inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(FLAMBEAU_GOLDEN_DIR "/pt2")) {
    if (entry.path().extension() == ".pt2") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline bool is_old_layout(std::string_view name) { return name.ends_with(".old"); }

// The records of an archive, to be changed and written again.
class Records {
 public:
  static Records of(const std::shared_ptr<Mapping>& mapping) {
    Records records;
    const RecordArchive archive = RecordArchive::open(mapping);
    records.top_ = archive.top_folder();
    for (const std::string_view name : archive.names()) {
      records.list_.emplace_back(std::string(name), archive.read_text(name));
    }
    return records;
  }
  static Records golden(std::string_view name) { return of(Mapping::open(golden_path(name))); }

  const std::string& text(std::string_view name) const {
    for (const auto& [each, content] : list_) {
      if (each == name) return content;
    }
    throw std::runtime_error("no record " + std::string(name));
  }
  bool has(std::string_view name) const {
    return std::any_of(list_.begin(), list_.end(), [&](const auto& record) { return record.first == name; });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, content] : list_) names.push_back(name);
    return names;
  }
  // Replaces the record, or adds it at the end.
  Records& set(std::string_view name, std::string content) {
    for (auto& [each, old] : list_) {
      if (each == name) return old = std::move(content), *this;
    }
    list_.emplace_back(std::string(name), std::move(content));
    return *this;
  }
  Records& remove(std::string_view name) {
    std::erase_if(list_, [&](const auto& record) { return record.first == name; });
    return *this;
  }
  // Replaces the first occurrence in the record's text, which must be there.
  Records& edit(std::string_view name, std::string_view from, std::string_view to) {
    std::string content = text(name);
    const size_t at = content.find(from);
    if (at == std::string::npos) throw std::runtime_error("no text " + std::string(from));
    return set(name, content.replace(at, from.size(), to));
  }

  std::shared_ptr<Mapping> file(std::string_view deflated = {}) const {
    MemorySink sink;
    zip::Writer writer(sink, {.top_folder = top_});
    for (const auto& [name, content] : list_) {
      if (name == ".data/serialization_id") continue;
      if (name == deflated) {
        writer.add_deflated(name, as_bytes(content));
      } else {
        writer.add_text(name, content);
      }
    }
    if (has(".data/serialization_id")) writer.add_serialization_id();
    writer.finish();
    return Mapping::from_buffer(sink.take());
  }

 private:
  std::string top_;
  std::vector<std::pair<std::string, std::string>> list_;
};

// "corrupt: record 'x': ...: message (remedy)", of the Error that `body` throws.
template <typename Body>
std::string error_text(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

inline std::string read_error(const Records& records) {
  return error_text([&] { load_package(records.file()); });
}

inline std::string written(const Package& package, PackageLayout layout = PackageLayout::kArchive) {
  MemorySink sink;
  write_package(sink, package, layout);
  return std::string(as_text(sink.buffer()));
}

inline std::string bytes_of(const std::shared_ptr<Storage>& storage) {
  return std::string(as_text(storage->bytes()));
}

// The JSON of the only program of an archive.
inline std::string program_json(std::string_view golden) {
  const Records records = Records::golden(golden);
  for (const std::string& name : records.names()) {
    if (name.starts_with("models/") || name == "serialized_exported_program.json") return records.text(name);
  }
  throw std::runtime_error("no program in " + std::string(golden));
}

}  // namespace flambeau::pt2
