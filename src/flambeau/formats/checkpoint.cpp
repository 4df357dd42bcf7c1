#include "flambeau/formats/checkpoint.h"

#include <fmt/format.h>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/gguf/gguf.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npz.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/shards/shards.h"
#include "flambeau/formats/state_dict/walk.h"

namespace flambeau {
namespace {

// Of several programs in one archive, each one's weights stand under its name.
Checkpoint weights_of_programs(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  const pt2::Package package = pt2::load_package(file, mapping);
  std::vector<CheckpointTensor> entries;
  std::vector<std::pair<std::string, std::string>> skipped;
  for (const pt2::Model& model : package.models) {
    const std::string prefix = package.models.size() == 1 ? std::string() : model.name + ".";
    for (const auto* list : {&model.program.state_dict, &model.program.constants}) {
      for (const graph::Weight& weight : *list) {
        if (weight.pickled != nullptr) {
          skipped.emplace_back(prefix + weight.name, "a tensor of a class of its own");
          continue;
        }
        entries.push_back({prefix + weight.name, weight.tensor,
                           weight.is_parameter ? TensorRole::kParameter : TensorRole::kTensor});
      }
    }
    for (const graph::NamedObject& object : model.program.objects) {
      skipped.emplace_back(prefix + object.name, "an object that only its own class can read");
    }
  }
  return CheckpointBuilder::from_program(file.kind, std::move(entries), std::move(skipped));
}

Checkpoint open_kind(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  const FileKind kind = file.kind;
  switch (kind) {
    case FileKind::kTorchSave:
    case FileKind::kTorchScript:
    case FileKind::kTorchScriptMobile:
      return CheckpointBuilder::from_torch(kind, read_torch_zip(file.archive), mapping->size());
    case FileKind::kTorchSaveLegacy:
      return CheckpointBuilder::from_torch(kind, read_torch_legacy(mapping), mapping->size());
    case FileKind::kTorchSaveTar:
      return CheckpointBuilder::from_torch(kind, read_torch_tar(mapping), mapping->size());
    case FileKind::kSafetensors: {
      SafetensorsFile found = read_safetensors(mapping);
      return CheckpointBuilder::from_named(kind, std::move(found.tensors), std::move(found.metadata));
    }
    case FileKind::kNpz:
      return CheckpointBuilder::from_named(kind, read_npz(mapping).tensors);
    case FileKind::kNpy: {
      NamedTensors tensors;
      tensors.push_back({"array", read_npy(mapping)});
      return CheckpointBuilder::from_named(kind, std::move(tensors));
    }
    case FileKind::kPt2:
    case FileKind::kPt2OldLayout:
      return weights_of_programs(file, mapping);
    case FileKind::kGguf:
      return CheckpointBuilder::from_gguf(read_gguf(mapping));
    case FileKind::kShardIndex:
      return read_shards(mapping);
    case FileKind::kUnknown: {
      const std::string_view foreign = foreign_kind(mapping->bytes());
      if (foreign.empty()) {
        throw Error(ErrorCode::kUnsupported, "is not a file of a known kind",
                    "Flambeau reads torch.save, TorchScript, safetensors, GGUF, npy and npz files");
      }
      throw Error(ErrorCode::kUnsupported, fmt::format("is {}, not a file of PyTorch", foreign));
    }
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("holds no state dict: it is {}", file_kind_info(kind).description),
                  "'flambeau inspect' and 'flambeau list' show what is inside");
  }
}

}  // namespace

Checkpoint Checkpoint::from_tensors(NamedTensors tensors,
                                    std::vector<std::pair<std::string, std::string>> metadata) {
  std::unordered_set<std::string_view> names;
  for (const NamedTensor& entry : tensors) {
    if (names.insert(entry.name).second) continue;
    throw Error(ErrorCode::kUnsupported, fmt::format("two tensors have the name '{}'", printable(entry.name)),
                "convert to .pt without a filter, which keeps the structure they are in");
  }
  return CheckpointBuilder::from_named(FileKind::kTorchSave, std::move(tensors), std::move(metadata));
}

const Tensor* Checkpoint::find(std::string_view name) const {
  for (const CheckpointTensor& entry : tensors_) {
    if (entry.name == name) return &entry.tensor;
  }
  return nullptr;
}

const Tensor* Checkpoint::tensor_at(const pickle::Node* node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? nullptr : &found->second;
}

NamedTensors Checkpoint::named() const {
  NamedTensors result;
  result.reserve(tensors_.size());
  for (const CheckpointTensor& entry : tensors_) result.push_back({entry.name, entry.tensor});
  return result;
}

Checkpoint CheckpointBuilder::from_torch(FileKind kind, TorchFile file, uint64_t file_size) {
  Checkpoint checkpoint;
  checkpoint.kind_ = kind;
  checkpoint.tree_ = std::make_shared<pickle::Tree>(std::move(file.tree));
  Rebuilder rebuilder(*file.source);
  FoundTensors found = find_tensors(*checkpoint.tree_, rebuilder, file_size);
  checkpoint.tensors_.reserve(found.tensors.size());
  checkpoint.nodes_.reserve(found.tensors.size());
  checkpoint.by_node_.reserve(found.tensors.size());
  for (FoundTensor& entry : found.tensors) {
    // A Parameter requires a gradient; the tensor inside of it does not.
    checkpoint.by_node_.emplace(entry.rebuilt->core, rebuilder.find(*entry.rebuilt->core)->tensor);
    checkpoint.nodes_.push_back(entry.rebuilt->core);
    checkpoint.tensors_.push_back({std::move(entry.name), entry.rebuilt->tensor, entry.rebuilt->role});
  }
  for (SkippedTensor& entry : found.skipped) {
    checkpoint.skipped_.emplace_back(std::move(entry.name), std::move(entry.reason));
  }
  return checkpoint;
}

Checkpoint CheckpointBuilder::from_entries(std::vector<CheckpointTensor> entries, bool is_ordered) {
  Checkpoint checkpoint;
  checkpoint.kind_ = FileKind::kTorchSave;
  checkpoint.tree_ = std::make_shared<pickle::Tree>();
  pickle::Tree& tree = *checkpoint.tree_;
  pickle::Node* const ordered = tree.global("collections", "OrderedDict");
  pickle::Node* const dict = is_ordered ? tree.call(ordered, tree.tuple()) : tree.dict();
  tree.set_root(dict);
  for (CheckpointTensor& entry : entries) {
    pickle::Node* const place =
        tree.persistent(tree.none());  // stands for the tensor; never written as it is
    pickle::Node* value = place;
    Tensor data = entry.tensor;
    if (entry.role == TensorRole::kParameter) {
      data.set_requires_grad(false);
      value = tree.call(
          tree.global("torch._utils", "_rebuild_parameter"),
          tree.tuple({place, tree.boolean(entry.tensor.requires_grad()), tree.call(ordered, tree.tuple())}));
    }
    tree.set_item(dict, tree.string(entry.name), value);
    checkpoint.by_node_.emplace(place, std::move(data));
    checkpoint.nodes_.push_back(place);
    checkpoint.tensors_.push_back(std::move(entry));
  }
  return checkpoint;
}

Checkpoint CheckpointBuilder::from_program(FileKind kind, std::vector<CheckpointTensor> entries,
                                           std::vector<std::pair<std::string, std::string>> skipped) {
  Checkpoint checkpoint = from_entries(std::move(entries), true);
  checkpoint.kind_ = kind;
  checkpoint.skipped_ = std::move(skipped);
  return checkpoint;
}

Checkpoint CheckpointBuilder::from_shards(std::vector<CheckpointTensor> entries,
                                          std::vector<std::pair<std::string, std::string>> skipped,
                                          std::vector<std::pair<std::string, std::string>> metadata,
                                          std::vector<std::string> notes) {
  Checkpoint checkpoint = from_entries(std::move(entries), true);
  checkpoint.kind_ = FileKind::kShardIndex;
  checkpoint.skipped_ = std::move(skipped);
  checkpoint.metadata_ = std::move(metadata);
  checkpoint.notes_ = std::move(notes);
  return checkpoint;
}

// Arrays of metadata are tables of a tokenizer, which no other format takes.
Checkpoint CheckpointBuilder::from_gguf(GgufFile file) {
  std::vector<CheckpointTensor> entries;
  entries.reserve(file.tensors.size());
  for (GgufTensor& entry : file.tensors) {
    entries.push_back({std::move(entry.name), std::move(entry.tensor), TensorRole::kTensor,
                       entry.is_quantized ? entry.type : std::string_view()});
  }
  Checkpoint checkpoint = from_entries(std::move(entries), true);
  checkpoint.kind_ = FileKind::kGguf;
  checkpoint.skipped_ = std::move(file.skipped);
  for (GgufMetadata& entry : file.metadata) {
    if (!entry.is_array) checkpoint.metadata_.emplace_back(std::move(entry.key), std::move(entry.text));
  }
  return checkpoint;
}

Checkpoint CheckpointBuilder::from_named(FileKind kind, NamedTensors tensors,
                                         std::vector<std::pair<std::string, std::string>> metadata) {
  std::vector<CheckpointTensor> entries;
  entries.reserve(tensors.size());
  for (NamedTensor& entry : tensors) {
    entries.push_back({std::move(entry.name), std::move(entry.tensor), TensorRole::kTensor});
  }
  Checkpoint checkpoint = from_entries(std::move(entries), true);
  checkpoint.kind_ = kind;
  checkpoint.metadata_ = std::move(metadata);
  return checkpoint;
}

Checkpoint load_checkpoint(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] { return open_kind(file, mapping); });
}

Checkpoint load_checkpoint(const std::shared_ptr<Mapping>& mapping) {
  return load_checkpoint(recognize_file(mapping), mapping);
}

Checkpoint load_checkpoint(const std::string& path) {
  return load_checkpoint(open_model_file(weights_file_of(path)));
}

}  // namespace flambeau
