// The check of one file, or of a file inside of another. Internal: a format's own part of it (Format::check)
// uses what is public here.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/safety/known_globals.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau::safety {

class Checker {
 public:
  Checker(const std::shared_ptr<Mapping>& mapping, Progress& progress)
      : mapping_(mapping), progress_(progress) {}

  SafetyReport run();
  // What PyTorch gives to torch.load from memory, where it looks for no tar.
  void set_payload() { is_payload_ = true; }

  const std::shared_ptr<Mapping>& mapping() const { return mapping_; }
  ByteSpan bytes() const { return mapping_->bytes(); }
  // Of a file that is a zip archive.
  const RecordArchive& archive() const { return *archive_; }
  RecognizedFile file() const { return {report_.kind, archive_}; }

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
  // torch.load(weights_only=True) gives an error.
  void set_refused_by_weights_only() { is_refused_by_weights_only_ = true; }
  // Its pickles were judged from the first byte on, which is what torch.load would read.
  void set_read_from_start() { was_read_from_start_ = true; }

  // Names of the format's own, whose use it checks itself.
  void set_own_names(std::span<const std::string_view> names) { own_names_ = names; }

  // An index is judged without the files that it names.
  void check_files_beside(std::span<const std::string> names);

  // ---- bytes and pickles
  // What no format accounts for behind the end of what it does.
  void check_rest(size_t end, std::string_view after);
  void check_pickle(ByteSpan bytes, std::string_view record);
  void judge(const pickle::Tree& tree, std::string_view record);
  // Tensors that are not what their sizes say.
  void judge_tensors(const TorchFile& file, std::string_view record);
  pickle::Limits limits_for(ByteSpan bytes) const;

  // ---- records of zip archives
  std::shared_ptr<Mapping> contents(const zip::Entry& entry);
  // Records that every archive of PyTorch may have.
  bool is_marker(std::string_view name);
  // A record that the format has no place for.
  void check_unaccounted(std::string_view name, const zip::Entry& entry);
  // What PyTorch gives to torch.load, or to pickle.loads, from memory.
  void check_payload(const zip::Entry& entry, bool is_bare_pickle);
  // Of a package: `name` is the record for each model.
  void check_programs(const pt2::Package& package, std::string (*record)(const pt2::Model& model));

 private:
  const Format& format() const { return format_of(report_.kind); }
  void judge_openings();
  Outcome outcome(Opening opening) const;

  // ---- files that are no zip archives
  void check_plain();
  void check_unknown();
  // torch.load unpickles whatever is no zip archive, from its first byte on.
  void check_start();
  void check_zip_behind();

  // ---- zip archives
  void check_zip();
  void check_checksums();
  bool is_bomb(const zip::Reader& zip);
  void check_names();
  void check_unknown_zip();
  void check_unaccounted_bytes(const zip::Entry& entry);
  // The kind it is of.
  FileKind check_inner_file(const zip::Entry& entry, const std::shared_ptr<Mapping>& inner, Openings affects);

  // ---- pickles
  void judge_beginning(ByteSpan bytes, const Error& error, std::string_view record);
  GlobalVerdict verdict_on(const pickle::Node::GlobalName& name) const;
  // Where a name in a pickle matters: torch.load(weights_only=True) refuses it.
  Openings unpicklers() const;

  const std::shared_ptr<Mapping>& mapping_;
  Progress& progress_;
  SafetyReport report_;
  std::shared_ptr<const RecordArchive> archive_;
  std::span<const std::string_view> own_names_;
  std::set<std::pair<std::string, std::string>> seen_;  // records and names
  bool is_refused_by_weights_only_ = false;
  bool was_read_from_start_ = false;
  bool is_payload_ = false;
  int depth_ = 0;
  // Of the findings beyond those that are listed.
  size_t left_out_ = 0;
  Severity worst_left_out_ = Severity::kInfo;
  Openings affected_by_left_out_ = 0;
};

// The check of a format whose reader refuses every byte that it does not account for.
void check_by_opening(Checker& checker);
// Of what Python unpickles from its first byte on, and torch.load(weights_only=True) refuses.
void check_bare_pickle(Checker& checker);

}  // namespace flambeau::safety
