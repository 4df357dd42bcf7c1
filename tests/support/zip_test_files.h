// For the zip tests: reading whole files, and finding the archives among the fixtures.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "flambeau/archive/zip/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau::zip {

inline std::vector<uint8_t> read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string golden_path(const std::string& name) { return FLAMBEAU_GOLDEN_DIR "/zip/" + name; }

inline Reader open_golden(const std::string& name) { return Reader::open(Mapping::open(golden_path(name))); }

inline Reader open_bytes(std::vector<uint8_t> bytes, const Limits& limits = {}) {
  return Reader::open(Mapping::from_buffer(std::move(bytes)), limits);
}

// Sorted paths of the fixtures that are zip archives; empty when there are no fixtures here.
inline std::vector<std::string> fixture_archives() {
  std::vector<std::string> paths;
  const std::filesystem::path root = FLAMBEAU_FIXTURE_DIR "/real";
  if (!std::filesystem::exists(root)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    if (looks_like_zip(Mapping::open(entry.path().string())->bytes())) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The text of the Error that `body` throws.
template <typename Body>
std::string error_text(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

}  // namespace flambeau::zip
