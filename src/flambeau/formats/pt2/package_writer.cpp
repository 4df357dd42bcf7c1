#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/pt2/archive_names.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/payload_config.h"
#include "flambeau/formats/state_dict/torch_writer.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau::pt2 {
namespace {

using graph::ExportedProgram;
using graph::NamedObject;
using graph::SymInt;
using graph::TensorMeta;
using graph::Weight;

std::vector<SymInt> sym_ints(const Dims& dims) { return {dims.begin(), dims.end()}; }

TensorMeta meta_of(const Weight& weight) {
  const Tensor& tensor = weight.tensor;
  if (!tensor.defined() || tensor.layout() != Layout::kStrided || tensor.quantizer() != nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("'{}' is {}, and exported programs hold plain strided tensors",
                            printable(weight.name), tensor.defined() ? tensor.summary() : "undefined"));
  }
  TensorMeta meta;
  meta.dtype = tensor.dtype();
  meta.sizes = sym_ints(tensor.sizes());
  meta.strides = sym_ints(tensor.strides());
  meta.storage_offset = tensor.offset();
  meta.requires_grad = tensor.requires_grad();
  const std::string device = tensor.device().to_string();
  meta.device.type = weight.device_type.empty() ? device.substr(0, device.find(':')) : weight.device_type;
  if (tensor.device().index >= 0) meta.device.index = tensor.device().index;
  if (weight.extras != nullptr) {
    meta.extras = weight.extras->meta;
    meta.device.extras = weight.extras->device;
  }
  return meta;
}

graph::Extras entry_extras(const Weight& weight) {
  return weight.extras != nullptr ? weight.extras->entry : graph::Extras();
}

// A record to be written: text, or bytes that stay where they are.
struct Pending {
  std::string name;
  std::string text;
  std::shared_ptr<Storage> bytes;
  bool is_deflated = false;
};

class ArchiveWriter {
 public:
  ArchiveWriter(const Package& package, Progress& progress) : package_(package), progress_(progress) {}

  void write(ByteSink& sink, std::string_view top_folder) {
    for (const Record& record : package_.others) kept_.insert(record.name);
    for (const Model& model : package_.models) add_model(model);
    for (const Record& record : package_.others) add(record.name, record.bytes, record.is_deflated);
    for (const Record& record : package_.extra_files)
      add(std::string(kExtra).append(record.name), record.bytes);
    add_text(kFormat, "pt2");
    add_text(kArchiveVersion, package_.archive_version);
    add_text(kFormatVersion, package_.format_version);
    add_text(kByteOrder, "little");
    keep_order();

    uint64_t total = 0;
    for (const Pending& record : pending_) total += record.bytes ? record.bytes->size() : record.text.size();
    progress_.begin("writing weights", total);
    zip::WriterOptions options;
    options.top_folder = package_.top_folder.empty() ? std::string(top_folder) : package_.top_folder;
    zip::Writer writer(sink, options);
    for (const Pending& record : pending_) {
      if (!record.bytes) {
        writer.add_text(record.name, record.text);
        continue;
      }
      if (record.is_deflated) {
        const std::shared_ptr<const Storage> ready = Storage::ready(record.bytes);
        writer.add_deflated_quickly(record.name, ready->bytes());
        advance_or_cancel(progress_, ready->size());
        continue;
      }
      writer.add_stream(record.name, record.bytes->is_meta() ? 0 : record.bytes->size(),
                        [&](const std::function<void(ByteSpan)>& emit) {
                          // Fake weights have no bytes, and are written as none.
                          if (record.bytes->is_meta()) return;
                          emit_pieces(record.bytes, emit, progress_);
                        });
    }
    writer.add_serialization_id();
    writer.finish();
  }

 private:
  void add(std::string name, std::shared_ptr<Storage> bytes, bool is_deflated = false) {
    pending_.push_back({std::move(name), {}, std::move(bytes), is_deflated});
  }
  void add_text(std::string_view name, std::string text) {
    pending_.push_back({std::string(name), std::move(text), nullptr});
  }

  // The next name that no record has that is kept as it was.
  std::string free_path(std::string_view folder, std::string_view prefix, size_t& counter) const {
    for (;;) {
      std::string path = fmt::format("{}{}", prefix, counter++);
      if (!kept_.contains(std::string(folder).append(path))) return path;
    }
  }

  // PyTorch's order: first what is pickled, then one record for each storage and element type.
  void add_weights(const std::vector<Weight>& weights, std::string_view folder, std::string_view prefix,
                   size_t& counter, std::vector<Payload>& payloads) {
    for (const Weight& weight : weights) {
      if (weight.pickled == nullptr) continue;
      std::string path = free_path(folder, prefix, counter);
      add(std::string(folder).append(path), weight.pickled->bytes);
      payloads.push_back({weight.name, std::move(path), weight.is_parameter, true, weight.pickled->meta,
                          entry_extras(weight)});
    }
    std::vector<std::vector<const Weight*>> groups;
    std::map<std::pair<const Storage*, DType>, size_t> group_of;
    for (const Weight& weight : weights) {
      if (weight.pickled != nullptr) continue;
      const Storage* storage = weight.tensor.storage().get();
      // Storages without bytes are one to PyTorch, fake ones too.
      if (storage != nullptr && (storage->size() == 0 || storage->is_meta())) storage = nullptr;
      const auto [at, is_new] = group_of.try_emplace({storage, weight.tensor.dtype()}, groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back(&weight);
    }
    for (const std::vector<const Weight*>& group : groups) {
      const std::string path = free_path(folder, prefix, counter);
      for (const Weight* weight : group) {
        payloads.push_back(
            {weight->name, path, weight->is_parameter, false, meta_of(*weight), entry_extras(*weight)});
      }
      add(std::string(folder).append(path), group.front()->tensor.storage());
    }
  }

  void add_model(const Model& model) {
    const ExportedProgram& program = model.program;
    if (model.name.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "a program in an archive needs a name");
    }
    std::vector<Payload> payloads;
    add_weights(program.state_dict, kWeights, kWeightPrefix, weights_, payloads);
    add_text(weights_config_record(model.name), write_payload_config(payloads));
    payloads.clear();
    add_weights(program.constants, kConstants, kTensorPrefix, tensors_, payloads);
    for (const NamedObject& object : program.objects) {
      std::string path = object.is_opaque ? free_path(kConstants, kOpaquePrefix, opaque_)
                                          : free_path(kConstants, kObjectPrefix, objects_);
      add(std::string(kConstants).append(path), object.bytes);
      payloads.push_back({object.name, std::move(path), false, true, std::nullopt, object.extras});
    }
    add_text(constants_config_record(model.name), write_payload_config(payloads));
    add_text(model_record(model.name), write_program(program));
    if (program.example_inputs != nullptr) {
      add(sample_inputs_record(model.name), program.example_inputs);
    } else {
      add_text(sample_inputs_record(model.name), "");
    }
  }

  // The order of the archive this came from, if it had the same records.
  void keep_order() {
    std::unordered_map<std::string_view, size_t> place;
    for (const std::string& name : package_.record_order) {
      if (name != kSerializationId) place.emplace(name, place.size());
    }
    if (place.size() != pending_.size()) return;
    for (const Pending& record : pending_) {
      if (!place.contains(record.name)) return;
    }
    std::vector<Pending> ordered(pending_.size());
    for (Pending& record : pending_) {
      Pending& to = ordered[place.at(record.name)];
      to = std::move(record);
    }
    pending_ = std::move(ordered);
  }

  const Package& package_;
  Progress& progress_;
  std::unordered_set<std::string> kept_;  // the names of package_.others
  std::vector<Pending> pending_;
  size_t weights_ = 0;
  size_t tensors_ = 0;
  size_t objects_ = 0;
  size_t opaque_ = 0;
};

// Counts, and keeps nothing.
class CountingSink final : public ByteSink {
 public:
  void write(ByteSpan bytes) override { count_ += bytes.size(); }
  uint64_t position() const override { return count_; }

 private:
  uint64_t count_ = 0;
};

// A sink that hands everything on.
class ForwardingSink final : public ByteSink {
 public:
  explicit ForwardingSink(const std::function<void(ByteSpan)>& emit) : emit_(emit) {}
  void write(ByteSpan bytes) override {
    emit_(bytes);
    count_ += bytes.size();
  }
  uint64_t position() const override { return count_; }

 private:
  const std::function<void(ByteSpan)>& emit_;
  uint64_t count_ = 0;
};

// torch.save of a dict of these, as one record.
void add_checkpoint(zip::Writer& writer, std::string_view name, const std::vector<Weight>& weights,
                    Progress& progress) {
  std::vector<CheckpointTensor> entries;
  for (const Weight& weight : weights) {
    if (weight.pickled != nullptr) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("'{}' is a tensor of a class of its own, which the older layout cannot hold",
                              printable(weight.name)),
                  "save it in the archive layout");
    }
    meta_of(weight);  // refuses what is no plain tensor
    if (weight.tensor.storage() != nullptr && weight.tensor.storage()->is_meta() &&
        !weight.tensor.is_meta()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("'{}' is a fake weight without data, which the older layout cannot hold",
                              printable(weight.name)),
                  "save it in the archive layout");
    }
    entries.push_back(
        {weight.name, weight.tensor, weight.is_parameter ? TensorRole::kParameter : TensorRole::kTensor});
  }
  const Checkpoint checkpoint = CheckpointBuilder::from_entries(std::move(entries), {}, false);
  // The size stands before the bytes, so they are made twice; the weights themselves are never copied.
  CountingSink counter;
  write_torch_zip(counter, checkpoint, {}, Progress::silent());
  writer.add_stream(name, counter.position(), [&](const std::function<void(ByteSpan)>& emit) {
    ForwardingSink sink(emit);
    write_torch_zip(sink, checkpoint, {}, progress);
  });
}

void write_zip_layout(ByteSink& sink, const Package& package, Progress& progress) {
  if (package.models.size() != 1) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the older layout holds one program, and there are {}", package.models.size()),
                "save in the archive layout, or take one of the programs");
  }
  if (!package.others.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the older layout has no place for '{}'", printable(package.others.front().name)),
                "save in the archive layout");
  }
  const ExportedProgram& program = package.models.front().program;
  if (!program.objects.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the older layout cannot hold the object '{}' without its class",
                            printable(program.objects.front().name)),
                "save in the archive layout");
  }
  zip::WriterOptions options;
  options.top_folder = "";
  zip::Writer writer(sink, options);
  writer.add_text(kZipProgram, write_program(program));
  add_checkpoint(writer, kZipStateDict, program.state_dict, progress);
  add_checkpoint(writer, kZipConstants, program.constants, progress);
  const auto add = [&](const std::string& name, const std::shared_ptr<Storage>& bytes) {
    writer.add_stream(name, bytes->size(),
                      [&](const std::function<void(ByteSpan)>& emit) { emit_pieces(bytes, emit, progress); });
  };
  if (program.example_inputs != nullptr) {
    add(std::string(kZipExampleInputs), program.example_inputs);
  } else {
    writer.add_text(kZipExampleInputs, "");
  }
  writer.add_text(kZipVersion,
                  fmt::format("{}.{}", program.schema_version.major, program.schema_version.minor));
  for (const Record& record : package.extra_files) {
    add(std::string(kZipExtra).append(record.name), record.bytes);
  }
  writer.finish();
}

}  // namespace

void write_package(ByteSink& sink, const Package& package, PackageLayout layout, std::string_view top_folder,
                   Progress& progress) {
  if (layout != PackageLayout::kJson) {
    for (const Model& model : package.models) {
      if (model.program.has_weights) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  "the program was read without weights, and cannot be saved with them",
                  "save it as .json, or with the --weights of another file");
    }
  }
  switch (layout) {
    case PackageLayout::kArchive:
      return ArchiveWriter(package, progress).write(sink, top_folder);
    case PackageLayout::kZip:
      return write_zip_layout(sink, package, progress);
    case PackageLayout::kJson:
      if (package.models.size() != 1) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("a JSON file holds one program, and there are {}", package.models.size()),
                    "take one of the programs");
      }
      return sink.write_text(write_program(package.models.front().program));
  }
}

void save_package(const Package& package, const std::string& path, PackageLayout layout, Progress& progress,
                  FileApi& api, Durability durability) {
  with_location("file", path, [&] {
    AtomicFile file(path, api, durability);
    write_package(file, package, layout, std::filesystem::path(path).stem().string(), progress);
    file.commit();
  });
}

}  // namespace flambeau::pt2
