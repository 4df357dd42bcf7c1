#include "flambeau/formats/torchscript/script_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/state_dict/persistent_ids.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/debug_info.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kCodeFolder = "code/";
constexpr std::string_view kCodeEnding = ".py";
constexpr std::string_view kExtraFolder = "extra/";

// The inputs of a trace have sizes, and no bytes.
class SizesAlone final : public PersistentSource {
 public:
  std::variant<TypedStorage, Tensor> load(const pickle::Node& id, size_t /*word*/) override {
    const StorageId parsed = parse_storage_id(id);
    std::shared_ptr<Storage>& storage = storages_[std::string(parsed.key)];
    if (storage == nullptr) storage = Storage::meta(parsed.byte_count);
    if (storage->size() != parsed.byte_count) {
      corrupt(fmt::format("storage '{}' is said to have two sizes", printable(parsed.key)));
    }
    return TypedStorage{storage, parsed.dtype, parsed.device, parsed.is_untyped};
  }

 private:
  std::map<std::string, std::shared_ptr<Storage>> storages_;
};

int64_t checked_version(const RecordArchive& records, const ScriptPlaces& places) {
  if (records.has("model.json")) {
    throw Error(ErrorCode::kUnsupported, "a TorchScript module in the form before 1.3 (model.json)",
                "load and save it with PyTorch 1.13, which reads that form");
  }
  const std::optional<int64_t> version = records.version();
  if (!version) corrupt("the archive does not say its version: the record 'version' is missing");
  if (*version < kOldestArchiveVersion) corrupt(fmt::format("{} is no version of an archive", *version));
  if (*version > kNewestArchiveVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the archive is of version {}; those up to {} are known", *version,
                            kNewestArchiveVersion),
                "a newer Flambeau may know it");
  }
  for (const std::string* const place : {&places.data, &places.constants}) {
    const std::string name = *place + ".pkl";
    const bool may_lack = place == &places.constants && records.has("bytecode.pkl");
    if (!records.has(name) && !may_lack) {
      corrupt(fmt::format("the record '{}' of a TorchScript module is missing", printable(name)),
              "the file is incomplete: get it again");
    }
  }
  return *version;
}

}  // namespace

std::string code_record(std::string_view qualifier) {
  std::string name = fmt::format("{}{}{}", kCodeFolder, qualifier, kCodeEnding);
  std::replace(name.begin() + kCodeFolder.size(), name.end() - kCodeEnding.size(), '.', '/');
  return name;
}

ScriptArchive::ScriptArchive(std::shared_ptr<const RecordArchive> records, ScriptPlaces places)
    : places_(std::move(places)),
      records_(std::move(records)),
      version_(checked_version(*records_, places_)) {}

std::shared_ptr<const Source> ScriptArchive::find_source(std::string_view qualifier) const {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(qualifier);
  if (found != sources_.end()) return found->second;
  const std::string name = places_.code + code_record(qualifier).substr(kCodeFolder.size());
  std::shared_ptr<const Source> source;
  if (const zip::Entry* entry = records_->find(name)) {
    source = with_location("record", printable(name), [&] {
      std::shared_ptr<const SourceOrigins> origins;
      if (const zip::Entry* debug = records_->find(name + ".debug_pkl")) {
        origins =
            lazy_origins([records = records_, debug] { return read_modest_record(records->zip(), *debug); });
      }
      const std::vector<uint8_t> text = read_modest_record(records_->zip(), *entry);
      return std::make_shared<const Source>(std::string(as_text(text)), name, 1, std::move(origins));
    });
  }
  sources_.emplace(qualifier, source);
  return source;
}

std::vector<std::string> ScriptArchive::qualifiers() const {
  std::vector<std::string> found;
  for (std::string_view name : records_->names()) {
    if (!name.starts_with(places_.code) || !name.ends_with(kCodeEnding)) continue;
    name.remove_prefix(places_.code.size());
    name.remove_suffix(kCodeEnding.size());
    std::string qualifier(name);
    std::replace(qualifier.begin(), qualifier.end(), '/', '.');
    found.push_back(std::move(qualifier));
  }
  return found;
}

std::vector<std::string> ScriptArchive::extra_files() const {
  std::vector<std::string> found;
  for (const std::string_view name : records_->names()) {
    if (name.starts_with(kExtraFolder)) found.emplace_back(name.substr(kExtraFolder.size()));
  }
  return found;
}

std::string ScriptArchive::extra_file(std::string_view name) const {
  return std::string(as_text(records_->read(fmt::format("{}{}", kExtraFolder, name))));
}

IValue ScriptArchive::read_pickle(ValueReader& reader, const std::string& name) const {
  const std::string record = fmt::format("{}.pkl", name);
  const TorchFile file =
      read_torch_zip(records_, record, places_.storages.empty() ? name : places_.storages, places_.shared);
  return with_location("record", record, [&] { return reader.read(*file.tree.root(), *file.source); });
}

std::vector<IValue> ScriptArchive::read_constants(ValueReader& reader) const {
  if (!records_->has(places_.constants + ".pkl")) return {};  // bytecode has its own
  const IValue constants = read_pickle(reader, places_.constants);
  if (!constants.is(IValue::Tag::kTuple)) corrupt("the archive's constants should be a tuple");
  return constants.items();
}

IValue ScriptArchive::read_data(ValueReader& reader) const {
  IValue module = read_pickle(reader, places_.data);
  if (!module.is(IValue::Tag::kObject) || !module.as_object().type->is_module()) {
    throw Error(ErrorCode::kCorrupt, fmt::format("a module is expected, found {}", module.kind_name()))
        .add_location("record", places_.data + ".pkl");
  }
  return module;
}

IValue ScriptArchive::read_traced_inputs(ValueReader& reader) const {
  constexpr std::string_view kTracedInputs = "traced_inputs.pkl";
  const zip::Entry* entry = records_->find(kTracedInputs);
  if (entry == nullptr) return {};
  const pickle::Tree tree = read_record_pickle(records_->zip(), *entry, kTracedInputs);
  SizesAlone storages;
  return with_location("record", kTracedInputs, [&] { return reader.read(*tree.root(), storages); });
}

}  // namespace flambeau::script
