// The check of one file, or of a file inside of another. Internal.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/safety/known_globals.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau::safety {

class Checker {
 public:
  Checker(const std::shared_ptr<Mapping>& mapping, Progress& progress)
      : mapping_(mapping), progress_(progress) {}

  SafetyReport run();

 private:
  // ---- findings
  void find(Severity severity, std::string topic, std::string_view record, std::string message,
            Openings affects = kAnyOpening);
  // An Error of the readers is a finding.
  template <typename Body>
  bool guarded(std::string_view topic, std::string_view record, Body&& body) {
    try {
      body();
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      // What this version cannot read is not known to do harm.
      const bool is_unknown = error.code() == ErrorCode::kUnsupported;
      find(is_unknown ? Severity::kCaution : Severity::kDanger, std::string(topic), record, error.what());
      return false;
    }
  }
  void judge_openings();
  Outcome outcome(Opening opening) const;

  // ---- files that are no zip archives
  void check_plain();
  void check_format();
  // torch.load unpickles whatever is no zip archive, from its first byte on.
  void check_start();
  void check_tar();
  void check_zip_behind();
  void check_rest(size_t end, std::string_view after);

  // ---- zip archives
  void check_zip();
  void check_checksums();
  bool is_bomb(const zip::Reader& zip);
  void check_names();
  void check_torch_save();
  void check_torchscript();
  void check_package();
  void check_old_package();
  void check_unknown_zip();
  void check_programs();
  bool is_marker(std::string_view name);
  void check_unaccounted(std::string_view name, const zip::Entry& entry);
  void check_unaccounted_bytes(const zip::Entry& entry);
  // The kind it is of.
  FileKind check_inner_file(const zip::Entry& entry, const std::shared_ptr<Mapping>& inner, Openings affects);
  // What PyTorch gives to torch.load, or to pickle.loads, from memory.
  void check_payload(const zip::Entry& entry, bool is_bare_pickle);
  std::shared_ptr<Mapping> contents(const zip::Entry& entry);

  // ---- pickles
  pickle::Limits limits_for(ByteSpan bytes) const;
  void check_pickle(ByteSpan bytes, std::string_view record);
  void judge_beginning(ByteSpan bytes, const Error& error, std::string_view record);
  void judge(const pickle::Tree& tree, std::string_view record);
  void judge_tensors(const TorchFile& file, std::string_view record);
  GlobalVerdict verdict_on(const pickle::Node::GlobalName& name) const;
  // Where a name in a pickle matters: torch.load(weights_only=True) refuses it.
  Openings unpicklers() const;

  const std::shared_ptr<Mapping>& mapping_;
  Progress& progress_;
  SafetyReport report_;
  std::shared_ptr<const RecordArchive> archive_;
  std::set<std::pair<std::string, std::string>> seen_;  // records and names
  bool is_refused_by_weights_only_ = false;
  bool is_payload_ = false;  // PyTorch reads it from memory, where it looks for no tar
  int depth_ = 0;
  // Of the findings beyond those that are listed.
  size_t left_out_ = 0;
  Severity worst_left_out_ = Severity::kInfo;
  Openings affected_by_left_out_ = 0;
};

}  // namespace flambeau::safety
