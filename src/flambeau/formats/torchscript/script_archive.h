// The records of a TorchScript archive by what they mean: version, code texts, pickled values, extra files.
// Opening reads the version alone; everything else is read when it is asked for, weights when they are used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/torchscript/value_reader.h"
#include "flambeau/script/source.h"

namespace flambeau::script {

constexpr int64_t kOldestArchiveVersion = 1;
constexpr int64_t kNewestArchiveVersion = 10;

class ScriptArchive {
 public:
  // Throws Error(kUnsupported) for a version that is newer than those known and for the form before 1.3,
  // Error(kCorrupt) for an archive without version, data.pkl or constants.pkl.
  explicit ScriptArchive(std::shared_ptr<const RecordArchive> records);

  const RecordArchive& records() const { return *records_; }
  const std::shared_ptr<const RecordArchive>& shared_records() const { return records_; }
  // Decides which operators mean something else than today.
  int64_t version() const { return version_; }

  // The text of "code/__torch__/m.py" for "__torch__.m", with its debug information; null when there is none.
  // The same one each time. Throws Error(kCorrupt, kLimit) located at the record.
  std::shared_ptr<const Source> find_source(std::string_view qualifier) const;
  // "__torch__.m", ..., in the archive's order.
  std::vector<std::string> qualifiers() const;
  // Names without "extra/", in the archive's order; what they hold, by RecordArchive::read("extra/...").
  std::vector<std::string> extra_files() const;

  // What CONSTANTS.c0, c1, ... are.
  std::vector<IValue> read_constants(ValueReader& reader) const;
  // The module. Throws Error(kCorrupt) for anything else.
  IValue read_data(ValueReader& reader) const;
  // By method, the inputs it was traced with, without their data; None when the archive has none.
  IValue read_traced_inputs(ValueReader& reader) const;

 private:
  IValue read_pickle(ValueReader& reader, std::string_view name) const;

  std::shared_ptr<const RecordArchive> records_;
  int64_t version_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Source>, std::less<>> sources_;
};

// "code/__torch__/m.py" of "__torch__.m".
std::string code_record(std::string_view qualifier);

}  // namespace flambeau::script
