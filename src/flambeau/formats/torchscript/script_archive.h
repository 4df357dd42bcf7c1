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
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/value_reader.h"
#include "flambeau/script/source.h"

namespace flambeau::script {

constexpr int64_t kOldestArchiveVersion = 1;
constexpr int64_t kNewestArchiveVersion = 10;

// Where the parts of a module are in its archive: those of torch.jit.save, unless a package holds several.
struct ScriptPlaces {
  std::string data = "data";  // data.pkl, and the folder of its storages
  std::string constants = "constants";
  std::string code = "code/";
  std::string storages = {};  // the folder of all storages; empty where each pickle has one of its own
  std::shared_ptr<SharedZipStorages> shared = {};
};

// What a module's file has beside the module, whatever its form is.
class ScriptContents {
 public:
  ScriptContents() = default;
  ScriptContents(const ScriptContents&) = delete;
  ScriptContents& operator=(const ScriptContents&) = delete;
  virtual ~ScriptContents() = default;
  // Decides which operators mean something else than today.
  virtual int64_t version() const = 0;
  // The text of "__torch__.m"; null when there is none. The same one each time.
  virtual std::shared_ptr<const Source> find_source(std::string_view qualifier) const = 0;
  // "__torch__.m", ..., in the file's order.
  virtual std::vector<std::string> qualifiers() const = 0;
  // Names of the files beside the model, and what they hold. Throws Error(kNotFound).
  virtual std::vector<std::string> extra_files() const = 0;
  virtual std::string extra_file(std::string_view name) const = 0;
  // By method, the inputs it was traced with, without their data; None where the file has none.
  virtual IValue read_traced_inputs(ValueReader& /*reader*/) const { return {}; }
};

class ScriptArchive final : public ScriptContents {
 public:
  // Throws Error(kUnsupported) for a version that is newer than those known and for the form before 1.3,
  // Error(kCorrupt) for an archive without version, data.pkl or constants.pkl.
  explicit ScriptArchive(std::shared_ptr<const RecordArchive> records, ScriptPlaces places = {});

  const RecordArchive& records() const { return *records_; }
  const std::shared_ptr<const RecordArchive>& shared_records() const { return records_; }
  int64_t version() const override { return version_; }

  // The text of "code/__torch__/m.py" with its debug information. Throws Error(kCorrupt, kLimit) located at
  // the record.
  std::shared_ptr<const Source> find_source(std::string_view qualifier) const override;
  std::vector<std::string> qualifiers() const override;
  // Those in "extra/".
  std::vector<std::string> extra_files() const override;
  std::string extra_file(std::string_view name) const override;

  // What CONSTANTS.c0, c1, ... are.
  std::vector<IValue> read_constants(ValueReader& reader) const;
  // The module. Throws Error(kCorrupt) for anything else.
  IValue read_data(ValueReader& reader) const;
  IValue read_traced_inputs(ValueReader& reader) const override;

 private:
  IValue read_pickle(ValueReader& reader, const std::string& name) const;

  ScriptPlaces places_;
  std::shared_ptr<const RecordArchive> records_;
  int64_t version_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Source>, std::less<>> sources_;
};

// "code/__torch__/m.py" of "__torch__.m".
std::string code_record(std::string_view qualifier);

}  // namespace flambeau::script
