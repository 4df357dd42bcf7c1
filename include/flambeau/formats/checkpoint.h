// One view of everything that holds weights: torch.save files of every age, TorchScript archives,
// safetensors, npy and npz. Opening reads the description; the weights stay where they are, mapped.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/named_tensors.h"

namespace flambeau::pickle {
class Tree;
class Node;
}  // namespace flambeau::pickle

namespace flambeau {

struct CheckpointTensor {
  std::string name;  // keys joined by dots: "optimizer.state.0.exp_avg"
  Tensor tensor;
  TensorRole role = TensorRole::kTensor;
  std::string_view stored_as = {};  // of a type that is decoded when it is read: "Q4_K"; static
};

class Checkpoint {
 public:
  Checkpoint() = default;
  Checkpoint(Checkpoint&&) noexcept = default;
  Checkpoint& operator=(Checkpoint&&) noexcept = default;

  // From named tensors alone: what torch.save of an OrderedDict holds. Throws Error(kUnsupported) when two
  // have the same name.
  static Checkpoint from_tensors(NamedTensors tensors,
                                 std::vector<std::pair<std::string, std::string>> metadata = {});

  // The same structure and tensors, whose memory is shared.
  Checkpoint copy() const { return *this; }

  FileKind kind() const { return kind_; }
  // Every tensor with its name, in the file's order.
  std::span<const CheckpointTensor> tensors() const { return tensors_; }
  // Null when there is none of that name.
  const Tensor* find(std::string_view name) const;
  // What looked like a tensor and is not supported: name and reason.
  std::span<const std::pair<std::string, std::string>> skipped() const { return skipped_; }
  // What a reader of the file should know: tensors that were left out because an index does not name them.
  std::span<const std::string> notes() const { return notes_; }
  // safetensors' metadata.
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }

  // The whole structure around the tensors: optimizer settings, epoch numbers, nested containers.
  const pickle::Tree& tree() const { return *tree_; }
  // The tensor that stands for this node of the tree; null when it is something else.
  const Tensor* tensor_at(const pickle::Node* node) const;

  // Calls visit(node, tensor, role) for the node behind each of tensors(), in their order.
  template <typename Visit>
  void for_each_node(Visit&& visit) const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      visit(nodes_[i], inner_tensor(by_node_.at(nodes_[i])), tensors_[i].role);
    }
  }

  // A new name-to-tensor list in the same order.
  NamedTensors named() const;

  // The same structure with other tensors: `replace` gets each tensor once, in the file's order, and gives
  // its successor.
  template <typename Replace>
  void replace_tensors(Replace&& replace) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const size_t first = by_node_.at(nodes_[i]);
      const bool requires_grad = tensors_[i].tensor.requires_grad();
      if (first == i) {
        const auto inner = inner_.find(i);
        Tensor made = replace(inner_tensor(i));
        if (inner != inner_.end()) inner->second = made;
        tensors_[i].tensor = std::move(made);
      } else {
        tensors_[i].tensor = inner_tensor(first);
      }
      tensors_[i].tensor.set_requires_grad(requires_grad);
    }
  }

 private:
  friend class CheckpointBuilder;
  Checkpoint(const Checkpoint&) = default;
  // `inner`: the tensor without what is around it; null when nothing is.
  void add(CheckpointTensor entry, const pickle::Node* node, const Tensor* inner);
  const Tensor& inner_tensor(size_t index) const {
    const auto inner = inner_.find(index);
    return inner != inner_.end() ? inner->second : tensors_[index].tensor;
  }

  FileKind kind_ = FileKind::kUnknown;
  std::shared_ptr<pickle::Tree> tree_;
  std::vector<CheckpointTensor> tensors_;
  std::vector<const pickle::Node*> nodes_;    // of tensors_, the node that holds the data
  std::unordered_map<size_t, Tensor> inner_;  // of those whose node is inside of a Parameter, or the like
  std::unordered_map<const pickle::Node*, size_t> by_node_;  // the first of tensors_ that it holds
  std::vector<std::pair<std::string, std::string>> skipped_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<std::string> notes_;
};

// Finds out what the file is and opens it. Throws Error: kNotFound, kIo, kCorrupt, kUnsupported (a kind
// without weights, with the reason), kLimit; located at the file. A folder stands for the weights in it, and
// an index of shards for all of them (see shards/shard_index.h).
Checkpoint load_checkpoint(const std::string& path);
Checkpoint load_checkpoint(const std::shared_ptr<Mapping>& mapping);
// A file whose kind is known already.
Checkpoint load_checkpoint(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping);

}  // namespace flambeau
