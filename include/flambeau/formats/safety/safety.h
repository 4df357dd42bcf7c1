// What could harm whoever opens a file with PyTorch: names a pickle would call, zip tricks, code, libraries,
// texts that PyTorch evaluates. Harmless means that every byte of the file is accounted for by a format that
// is read whole; what nobody knows is not harmless.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "flambeau/base/progress.h"
#include "flambeau/formats/file_kind.h"

namespace flambeau {

class Mapping;

enum class Severity : uint8_t {
  kInfo,     // good to know
  kCaution,  // holds something that runs when the model is used as intended, or that nobody knows
  kDanger,   // broken or made to do harm: do not open it with anything else
};
std::string_view severity_name(Severity severity);

// The ways to open a file in PyTorch.
enum class Opening : uint8_t {
  kWeightsOnly,  // torch.load(weights_only=True)
  kFull,         // torch.load(weights_only=False), as before PyTorch 2.6
  kModel,        // torch.export.load, torch.jit.load
};
inline constexpr size_t kOpenings = 3;
// The call as Python has it.
std::string_view opening_name(Opening opening);

enum class Outcome : uint8_t {
  kHarmless,
  kRefused,  // PyTorch gives an error, and nothing happens
  kCaution,  // see Severity
  kDangerous,
};
std::string_view outcome_name(Outcome outcome);

struct OpeningVerdict {
  Outcome outcome = Outcome::kRefused;
  std::string remedy;  // what to do instead; empty for the harmless
};

// Bits by Opening.
using Openings = uint8_t;
constexpr Openings bit(Opening opening) {
  return static_cast<Openings>(1U << static_cast<unsigned>(opening));
}
inline constexpr Openings kAnyOpening = (1U << kOpenings) - 1;

struct Finding {
  Severity severity = Severity::kInfo;
  std::string topic;    // "zip", "pickle", "code", "library", "checksum", "program", "file"
  std::string record;   // where; empty for the file as a whole
  std::string message;  // what, and what it would do
  Openings affects = kAnyOpening;
};

struct SafetyReport {
  FileKind kind = FileKind::kUnknown;
  std::vector<Finding> findings;  // worst first
  std::array<OpeningVerdict, kOpenings> openings;
  size_t records_verified = 0;
  size_t pickles_read = 0;
  // No caution, no danger.
  bool is_harmless() const;
  const OpeningVerdict& verdict(Opening opening) const { return openings[static_cast<size_t>(opening)]; }
};

// Reads all of the file, checksums included. A broken file is a finding, not an error; throws only
// Error(kCancelled), and what opening the file throws.
SafetyReport check_file(const std::string& path, Progress& progress = Progress::silent());
SafetyReport check_file(const std::shared_ptr<Mapping>& mapping, Progress& progress = Progress::silent());

// One report for all files below a folder: records are "file > record". Files that belong to no model are
// named. Throws also Error(kIo) for a folder that cannot be read, Error(kLimit) for one of too many files.
SafetyReport check_folder(const std::string& folder, Progress& progress = Progress::silent());

}  // namespace flambeau
