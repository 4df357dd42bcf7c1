#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/pt2/archive_names.h"
#include "flambeau/formats/pt2/package_readers.h"
#include "flambeau/formats/pt2/payload_config.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/graph/text/parse.h"

namespace flambeau::pt2 {
namespace {

using graph::ExportedProgram;
using graph::SymInt;
using graph::TensorMeta;
using graph::Weight;

Dims literal_dims(const std::vector<SymInt>& numbers, std::string_view what) {
  Dims dims;
  dims.resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!numbers[i].is_literal()) corrupt(fmt::format("{} of a weight is an expression, not a number", what));
    dims[i] = numbers[i].literal();
  }
  return dims;
}

Geometry geometry_of(const TensorMeta& meta) {
  if (!meta.storage_offset.is_literal()) corrupt("the offset of a weight is an expression, not a number");
  return {literal_dims(meta.sizes, "a size"), literal_dims(meta.strides, "a stride"),
          meta.storage_offset.literal()};
}

// The weights or constants of one program.
struct PayloadTable {
  explicit PayloadTable(std::vector<Payload> list) : payloads(std::move(list)) {
    for (const Payload& payload : payloads) {
      if (!payload.is_pickled && payload.meta) of_path[payload.path].push_back(&payload);
    }
  }
  PayloadTable(PayloadTable&&) = default;

  std::vector<Payload> payloads;
  std::unordered_map<std::string_view, std::vector<const Payload*>> of_path;
  std::unordered_map<std::string_view, std::shared_ptr<Storage>> fakes;
};

// The bytes of a record, in place where they are stored as they are.
std::shared_ptr<Storage> storage_of(const std::shared_ptr<const RecordArchive>& archive,
                                    const zip::Entry& entry) {
  if (entry.method == zip::Method::kStored) {
    return Storage::view(archive->zip().mapping(), entry.data_offset, entry.size);
  }
  return Storage::lazy(entry.size, [archive, &entry] { return archive->zip().read(entry); });
}

// The same of a torch.save file, which is opened at once: an inflated one stays in memory.
std::shared_ptr<Storage> checkpoint_of(const std::shared_ptr<const RecordArchive>& archive,
                                       const zip::Entry& entry) {
  if (entry.method == zip::Method::kStored) return storage_of(archive, entry);
  return Storage::own(read_modest_record(archive->zip(), entry));
}

ExportedProgram read_record_program(RecordJsonReader& texts, const zip::Entry& entry, Notes& notes) {
  return texts.read(entry, [&](std::string_view text, const json::Limits& limits) {
    return read_program(text, limits, notes);
  });
}

class ArchiveReader {
 public:
  ArchiveReader(std::shared_ptr<const RecordArchive> archive, Package& package)
      : archive_(std::move(archive)), package_(package), texts_(archive_->zip()) {}

  void read() {
    package_.top_folder = archive_->top_folder();
    read_markers();
    for (const std::string_view name : archive_->names()) package_.record_order.emplace_back(name);
    for (const std::string& name : package_.record_order) {
      if (!name.starts_with(kModels) || !name.ends_with(".json")) continue;
      if (name.size() == kModels.size() + 5) continue;  // no name at all
      const std::string model(
          std::string_view(name).substr(kModels.size(), name.size() - kModels.size() - 5));
      used_.insert(name);
      Model& made = package_.models.emplace_back();
      made.name = model;
      Notes notes;
      with_location("record", name,
                    [&] { made.program = read_record_program(texts_, archive_->get(name), notes); });
      for (std::string& note : notes) package_.notes.push_back(std::move(note));
      made.program.has_weights = true;
      read_state_dict(made);
      read_constants(made);
      const std::string inputs = sample_inputs_record(model);
      if (archive_->has(inputs)) made.program.example_inputs = take(inputs);
    }
    read_rest();
  }

 private:
  void read_markers() {
    for (const std::string_view name :
         {kFormat, kArchiveVersion, kFormatVersion, kByteOrder, kSerializationId}) {
      if (archive_->has(name)) used_.emplace(name);
    }
    if (archive_->has(kArchiveVersion)) {
      package_.archive_version = archive_->read_text(kArchiveVersion);
      if (package_.archive_version != "0") {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the archive's version is '{}', and this version of Flambeau reads '0'",
                                printable(package_.archive_version)),
                    "use a newer Flambeau");
      }
    } else {
      package_.notes.push_back("the archive does not say its version; taken to be 0");
    }
    if (archive_->has(kFormatVersion)) package_.format_version = archive_->read_text(kFormatVersion);
    if (archive_->byteorder() != ByteOrder::kLittle) {
      throw Error(ErrorCode::kUnsupported,
                  "the archive's weights are big-endian, which PyTorch does not read either");
    }
  }

  std::shared_ptr<Storage> take(const std::string& name) {
    used_.insert(name);
    const zip::Entry* const entry = archive_->find(name);
    if (entry == nullptr) {
      corrupt(fmt::format("the record '{}' is missing", printable(name)),
              "the file is incomplete: get it again");
    }
    return storage_of(archive_, *entry);
  }

  // A name in a table becomes part of a record's name, and must not lead anywhere else.
  static std::string record_of(std::string_view folder, const Payload& payload) {
    if (payload.path.empty() || payload.path.find_first_of("/\\") != std::string::npos) {
      throw Error(ErrorCode::kUnsafe, fmt::format("the payload's path '{}' leaves the folder '{}'",
                                                  printable(payload.path), folder));
    }
    return std::string(folder).append(payload.path);
  }

  // One storage for each record. A record without bytes stands for zeros, which need none: fake weights.
  std::shared_ptr<Storage> storage_for(const std::string& record, PayloadTable& table,
                                       const Payload& payload) {
    std::shared_ptr<Storage>& storage = storages_[record];
    if (storage == nullptr) storage = take(record);
    if (storage->size() != 0) return storage;
    std::shared_ptr<Storage>& fake = table.fakes[payload.path];
    if (fake != nullptr) return fake;
    uint64_t extent = 0;
    for (const Payload* const other : table.of_path.at(payload.path)) {
      const auto elements = static_cast<uint64_t>(storage_extent(geometry_of(*other->meta)));
      if (elements > (uint64_t{1} << 56)) corrupt("the weight is larger than any memory");
      extent = std::max(extent, elements * dtype_size(other->meta->dtype));
    }
    fake = extent != 0 ? Storage::meta(extent) : storage;
    return fake;
  }

  static std::shared_ptr<const graph::WeightExtras> extras_of(const Payload& payload) {
    graph::WeightExtras extras = {payload.extras, {}, {}};
    // The description of what is pickled is kept whole.
    if (payload.meta && !payload.is_pickled) {
      extras.meta = payload.meta->extras;
      extras.device = payload.meta->device.extras;
    }
    if (extras.entry.empty() && extras.meta.empty() && extras.device.empty()) return nullptr;
    return std::make_shared<const graph::WeightExtras>(std::move(extras));
  }

  Weight weight(std::string_view folder, PayloadTable& table, const Payload& payload) {
    const std::string record = record_of(folder, payload);
    Weight made = {payload.name, {}, payload.is_parameter};
    made.extras = extras_of(payload);
    if (payload.is_pickled) {
      made.pickled =
          std::make_shared<const graph::PickledTensor>(graph::PickledTensor{take(record), payload.meta});
      return made;
    }
    if (!payload.meta) corrupt("the entry has no description of its tensor");
    const TensorMeta& meta = *payload.meta;
    if (meta.layout != Layout::kStrided) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the weight has the layout {}, and only strided ones can be stored",
                              flambeau::layout_name(meta.layout)));
    }
    const std::shared_ptr<Storage> storage = storage_for(record, table, payload);
    if (storage->size() % dtype_size(meta.dtype) != 0) {
      corrupt(fmt::format("the record has {} bytes, which is no multiple of the element size {}",
                          storage->size(), dtype_size(meta.dtype)));
    }
    const std::optional<Device> device = parse_device(meta.device.to_string());
    if (!device) corrupt(fmt::format("'{}' is not a device", printable(meta.device.to_string())));
    if (device->type == DeviceType::kOther) made.device_type = meta.device.type;
    made.tensor = Tensor::strided(meta.dtype, geometry_of(meta), storage, *device);
    made.tensor.set_requires_grad(meta.requires_grad);
    return made;
  }

  PayloadTable config(const std::string& record) {
    used_.insert(record);
    return PayloadTable(with_location("record", record, [&] {
      return texts_.read(archive_->get(record), [](std::string_view text, const json::Limits& limits) {
        return read_payload_config(text, limits);
      });
    }));
  }

  void read_state_dict(Model& model) {
    const std::string legacy = fmt::format("{}{}.pt", kWeights, model.name);
    if (archive_->has(legacy)) {
      used_.insert(weights_config_record(model.name));  // which says the same, if it is there
      model.program.state_dict = read_checkpoint(legacy);
      return;
    }
    const std::string record = weights_config_record(model.name);
    if (!archive_->has(record)) corrupt(fmt::format("the record '{}' is missing", printable(record)));
    PayloadTable table = config(record);
    for (const Payload& payload : table.payloads) {
      with_location("weight", printable(payload.name),
                    [&] { model.program.state_dict.push_back(weight(kWeights, table, payload)); });
    }
  }

  void read_constants(Model& model) {
    const std::string legacy = fmt::format("{}{}.pt", kConstants, model.name);
    if (archive_->has(legacy)) {
      used_.insert(constants_config_record(model.name));
      model.program.constants = read_checkpoint(legacy);
      return;
    }
    const std::string record = constants_config_record(model.name);
    if (!archive_->has(record)) corrupt(fmt::format("the record '{}' is missing", printable(record)));
    PayloadTable table = config(record);
    for (const Payload& payload : table.payloads) {
      with_location("constant", printable(payload.name), [&] {
        if (payload.path.starts_with(kTensorPrefix)) {
          model.program.constants.push_back(weight(kConstants, table, payload));
        } else if (payload.path.starts_with(kObjectPrefix) || payload.path.starts_with(kOpaquePrefix)) {
          model.program.objects.push_back({payload.name, take(record_of(kConstants, payload)),
                                           payload.path.starts_with(kOpaquePrefix), payload.extras});
        } else {
          throw Error(
              ErrorCode::kUnsupported,
              fmt::format("'{}' is not a kind of constant that this version knows", printable(payload.path)));
        }
      });
    }
  }

  // A torch.save file inside the archive, as PyTorch 2.8 stored weights.
  std::vector<Weight> read_checkpoint(const std::string& record) {
    package_.notes.push_back(fmt::format("weights taken from '{}', the form of PyTorch 2.8", record));
    used_.insert(record);
    return with_location("record", record,
                         [&] { return weights_of(checkpoint_of(archive_, archive_->get(record))); });
  }

  void read_rest() {
    if (const auto outside = archive_->outside(); !outside.empty()) {
      package_.notes.push_back(
          fmt::format("{} records are not in the archive's folder '{}', the first is '{}': left out",
                      outside.size(), printable(package_.top_folder), printable(outside.front())));
    }
    for (const std::string& name : package_.record_order) {
      if (used_.contains(name)) continue;
      if (name.starts_with(kExtra)) {
        package_.extra_files.push_back({name.substr(kExtra.size()), take(name)});
      } else {
        package_.others.push_back({name, take(name)});
      }
    }
  }

 public:
  // The tensors of a torch.save file of a dict.
  static std::vector<Weight> weights_of(const std::shared_ptr<Storage>& bytes) {
    std::vector<Weight> weights;
    if (bytes->size() == 0) return weights;
    const Checkpoint checkpoint = CheckpointBuilder::from_torch_save(Storage::as_mapping(bytes));
    if (!checkpoint.skipped().empty()) {
      const auto& [name, reason] = checkpoint.skipped().front();
      throw Error(ErrorCode::kUnsupported, fmt::format("'{}' cannot be read: {}", printable(name), reason));
    }
    for (const CheckpointTensor& entry : checkpoint.tensors()) {
      weights.push_back({entry.name, entry.tensor, entry.role == TensorRole::kParameter});
    }
    return weights;
  }

 private:
  std::shared_ptr<const RecordArchive> archive_;
  Package& package_;
  RecordJsonReader texts_;
  std::unordered_map<std::string, std::shared_ptr<Storage>> storages_;
  std::unordered_set<std::string> used_;
};

// The layout of PyTorch 2.1 to 2.7: everything in torch.save files.
void read_zip_records(const std::shared_ptr<const RecordArchive>& archive, Package& package) {
  const auto take = [&](std::string_view name) { return storage_of(archive, archive->get(name)); };
  const auto weights = [&](std::string_view name, std::string_view old_name) -> std::vector<Weight> {
    const std::string_view found = archive->has(name) ? name : old_name;
    if (!archive->has(found)) return {};
    return with_location("record", found, [&] {
      return ArchiveReader::weights_of(checkpoint_of(archive, archive->get(found)));
    });
  };
  RecordJsonReader texts(archive->zip());
  Model& model = package.models.emplace_back();
  model.name = "model";
  with_location("record", kZipProgram, [&] {
    model.program = read_record_program(texts, archive->get(kZipProgram), package.notes);
  });
  ExportedProgram& program = model.program;
  program.has_weights = true;
  program.state_dict = weights(kZipStateDict, kZipOldStateDict);
  // Tensors that the graph itself held, in the first version, are constants by now.
  for (Weight& constant : weights(kZipConstants, kZipOldConstants))
    program.constants.push_back(std::move(constant));
  if (archive->has(kZipExampleInputs)) program.example_inputs = take(kZipExampleInputs);
  for (const std::string_view name : archive->names()) {
    package.record_order.emplace_back(name);
    if (name.starts_with(kZipExtra)) {
      package.extra_files.push_back({std::string(name.substr(kZipExtra.size())), take(name)});
    } else if (name != kZipProgram && name != kZipStateDict && name != kZipConstants &&
               name != kZipExampleInputs && name != kZipOldStateDict && name != kZipOldConstants &&
               name != kZipVersion) {
      package.notes.push_back(
          fmt::format("the record '{}' is not part of the layout; left out", printable(name)));
    }
  }
}

void add_lone_program(Package& package, graph::ExportedProgram program) {
  package.layout = PackageLayout::kJson;
  Model& model = package.models.emplace_back();
  model.name = "model";
  model.program = std::move(program);
  model.program.has_weights = false;
}

}  // namespace

std::string_view layout_name(PackageLayout layout) {
  return layout == PackageLayout::kArchive ? "archive" : layout == PackageLayout::kZip ? "zip" : "json";
}

std::optional<PackageLayout> layout_from_name(std::string_view name) {
  for (const PackageLayout layout : {PackageLayout::kArchive, PackageLayout::kZip, PackageLayout::kJson}) {
    if (layout_name(layout) == name) return layout;
  }
  return std::nullopt;
}

Model& Package::model(std::string_view name) {
  std::string there;
  for (Model& each : models) {
    if (each.name == name || (name.empty() && models.size() == 1)) return each;
    there += fmt::format("{}'{}'", there.empty() ? "" : ", ", printable(each.name));
  }
  if (models.empty()) throw Error(ErrorCode::kNotFound, "the archive has no exported program");
  // PyTorch opens the one of this name when not told otherwise.
  if (name.empty()) {
    for (Model& each : models) {
      if (each.name == "model") return each;
    }
    throw Error(ErrorCode::kNotFound, fmt::format("the archive has several programs: {}", there),
                "name one of them");
  }
  throw Error(ErrorCode::kNotFound,
              fmt::format("there is no program '{}'; there is {}", printable(name), there));
}

void take_weights(Package& package, const Package& from) {
  for (Model& model : package.models) {
    const auto found = std::find_if(from.models.begin(), from.models.end(),
                                    [&](const Model& each) { return each.name == model.name; });
    if (found == from.models.end() || !found->program.has_weights) {
      throw Error(ErrorCode::kNotFound,
                  fmt::format("there are no weights for the program '{}'", printable(model.name)));
    }
    model.program.state_dict = found->program.state_dict;
    model.program.constants = found->program.constants;
    model.program.objects = found->program.objects;
    model.program.example_inputs = found->program.example_inputs;
    model.program.has_weights = true;
  }
}

void read_archive_layout(const RecognizedFile& file, const std::shared_ptr<Mapping>& /*mapping*/,
                         Package& package) {
  package.layout = PackageLayout::kArchive;
  ArchiveReader(file.archive, package).read();
}

void read_zip_layout(const RecognizedFile& file, const std::shared_ptr<Mapping>& /*mapping*/,
                     Package& package) {
  package.layout = PackageLayout::kZip;
  read_zip_records(file.archive, package);
}

void read_program_json(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping,
                       Package& package) {
  add_lone_program(package, read_program(as_text(mapping->bytes()), package.notes));
}

void read_program_text(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping,
                       Package& package) {
  add_lone_program(package, graph::parse_text(as_text(mapping->bytes())));
}

Package load_package(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] {
    const Format& format = format_of(file.kind);
    if (!format.has_programs()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("is no exported program: it is {}", format.description),
                  "give a file that torch.export.save wrote");
    }
    Package package;
    format.read_programs(file, mapping, package);
    return package;
  });
}

Package load_package(const std::shared_ptr<Mapping>& mapping) {
  return load_package(recognize_file(mapping), mapping);
}

Package load_package(const std::string& path) { return load_package(open_model_file(path)); }

}  // namespace flambeau::pt2
