#include "flambeau/formats/checkpoint.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_set>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/state_dict/walk.h"

namespace flambeau {
namespace {

[[noreturn]] void refuse_kind(FileKind kind, ByteSpan bytes) {
  if (kind != FileKind::kUnknown) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("holds no state dict: it is {}", format_of(kind).description),
                "'flambeau inspect' and 'flambeau list' show what is inside");
  }
  const std::string_view foreign = foreign_kind(bytes);
  if (foreign.empty()) {
    throw Error(ErrorCode::kUnsupported, "is not a file of a known kind",
                "Flambeau reads torch.save, TorchScript, safetensors, GGUF, npy and npz files");
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("is {}, not a file of PyTorch", foreign));
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
  return CheckpointBuilder::from_named(std::move(tensors), {.metadata = std::move(metadata)});
}

const Tensor* Checkpoint::find(std::string_view name) const {
  for (const CheckpointTensor& entry : tensors_) {
    if (entry.name == name) return &entry.tensor;
  }
  return nullptr;
}

const Tensor* Checkpoint::tensor_at(const pickle::Node* node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? nullptr : &inner_tensor(found->second);
}

void Checkpoint::add(CheckpointTensor entry, const pickle::Node* node, const Tensor* inner) {
  if (by_node_.emplace(node, tensors_.size()).second && inner != nullptr) {
    inner_.emplace(tensors_.size(), *inner);
  }
  nodes_.push_back(node);
  tensors_.push_back(std::move(entry));
}

NamedTensors Checkpoint::named() const {
  NamedTensors result;
  result.reserve(tensors_.size());
  for (const CheckpointTensor& entry : tensors_) result.push_back({entry.name, entry.tensor});
  return result;
}

Checkpoint CheckpointBuilder::from_torch(TorchFile file, uint64_t file_size) {
  Checkpoint checkpoint;
  checkpoint.kind_ = FileKind::kTorchSave;
  checkpoint.tree_ = std::make_shared<pickle::Tree>(std::move(file.tree));
  Rebuilder rebuilder(*file.source);
  FoundTensors found = find_tensors(*checkpoint.tree_, rebuilder, file_size);
  checkpoint.tensors_.reserve(found.tensors.size());
  checkpoint.nodes_.reserve(found.tensors.size());
  checkpoint.by_node_.reserve(found.tensors.size());
  for (FoundTensor& entry : found.tensors) {
    // A Parameter requires a gradient; the tensor inside of it does not.
    const Rebuilt* const core = rebuilder.find(*entry.rebuilt->core);
    checkpoint.add({std::move(entry.name), entry.rebuilt->tensor, entry.rebuilt->role}, entry.rebuilt->core,
                   core == entry.rebuilt ? nullptr : &core->tensor);
  }
  for (SkippedTensor& entry : found.skipped) {
    checkpoint.skipped_.emplace_back(std::move(entry.name), std::move(entry.reason));
  }
  return checkpoint;
}

Checkpoint CheckpointBuilder::from_entries(std::vector<CheckpointTensor> entries, CheckpointExtras extras,
                                           bool is_ordered) {
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
    std::optional<Tensor> inner;
    if (entry.role == TensorRole::kParameter) {
      inner = entry.tensor;
      inner->set_requires_grad(false);
      value = tree.call(
          tree.global("torch._utils", "_rebuild_parameter"),
          tree.tuple({place, tree.boolean(entry.tensor.requires_grad()), tree.call(ordered, tree.tuple())}));
    }
    tree.set_item(dict, tree.string(entry.name), value);
    checkpoint.add(std::move(entry), place, inner ? &*inner : nullptr);
  }
  checkpoint.skipped_ = std::move(extras.skipped);
  checkpoint.metadata_ = std::move(extras.metadata);
  checkpoint.notes_ = std::move(extras.notes);
  return checkpoint;
}

Checkpoint CheckpointBuilder::from_torch_save(const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] {
    const ByteSpan bytes = mapping->bytes();
    if (zip::looks_like_zip(bytes)) {
      auto archive = std::make_shared<const RecordArchive>(RecordArchive::open(mapping));
      return from_torch(read_torch_zip(std::move(archive)), bytes.size());
    }
    if (looks_like_torch_legacy(bytes)) return from_torch(read_torch_legacy(mapping), bytes.size());
    if (looks_like_torch_tar(bytes)) return from_torch(read_torch_tar(mapping), bytes.size());
    throw Error(ErrorCode::kUnsupported, "is no file that torch.save wrote");
  });
}

Checkpoint CheckpointBuilder::from_named(NamedTensors tensors, CheckpointExtras extras) {
  std::vector<CheckpointTensor> entries;
  entries.reserve(tensors.size());
  for (NamedTensor& entry : tensors) {
    entries.push_back({std::move(entry.name), std::move(entry.tensor), TensorRole::kTensor});
  }
  return from_entries(std::move(entries), std::move(extras));
}

Checkpoint CheckpointBuilder::open(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  const Format& format = format_of(file.kind);
  if (!format.has_weights()) refuse_kind(file.kind, mapping->bytes());
  Checkpoint checkpoint = format.open(file, mapping);
  checkpoint.kind_ = file.kind;
  return checkpoint;
}

Checkpoint load_checkpoint(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] { return CheckpointBuilder::open(file, mapping); });
}

Checkpoint load_checkpoint(const std::shared_ptr<Mapping>& mapping) {
  return load_checkpoint(recognize_file(mapping), mapping);
}

Checkpoint load_checkpoint(const std::string& path) {
  return load_checkpoint(open_model_file(weights_file_of(path)));
}

}  // namespace flambeau
