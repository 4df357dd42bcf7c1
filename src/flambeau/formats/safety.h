// What could harm whoever opens a file with PyTorch: names a pickle would call, zip tricks, code, libraries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/base/mapping.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/file_kind.h"

namespace flambeau {

enum class Severity : uint8_t {
  kInfo,     // good to know
  kCaution,  // holds something that runs when the model is used as intended
  kDanger,   // broken or made to do harm: do not open it with anything else
};
std::string_view severity_name(Severity severity);

struct Finding {
  Severity severity = Severity::kInfo;
  std::string topic;    // "zip", "pickle", "code", "library", "checksum"
  std::string record;   // where; empty for the file as a whole
  std::string message;  // what, and what it would do
};

struct SafetyReport {
  FileKind kind = FileKind::kUnknown;
  std::vector<Finding> findings;  // worst first
  size_t records_verified = 0;
  size_t pickles_read = 0;
  // No caution, no danger.
  bool is_harmless() const;
};

// Reads all of the file, checksums included. A broken file is a finding, not an error; throws only
// Error(kCancelled).
SafetyReport check_safety(const std::shared_ptr<Mapping>& mapping, Progress& progress = Progress::silent());

}  // namespace flambeau
