// Turns the calls that PyTorch's pickles make (torch._utils._rebuild_tensor_v2 and its relatives) into
// tensors, without calling anything.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/formats/named_tensors.h"
#include "flambeau/formats/state_dict/numpy_pickle.h"
#include "flambeau/formats/state_dict/resolve_bits.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

// A storage as a pickle names it: bytes, element type, and the device it was saved from.
struct TypedStorage {
  std::shared_ptr<Storage> storage;
  DType dtype = DType::kUInt8;
  Device device;
  // From torch.UntypedStorage: the tensor, not the storage, knows the type.
  bool is_untyped = false;
};

// Where a reader finds what a pickle keeps outside of itself.
class PersistentSource {
 public:
  virtual ~PersistentSource() = default;
  // A storage, or in the oldest files a whole tensor. `word` is the unit of byte order when the tensor
  // knows it better than the storage (0: the storage's own). Throws Error(kCorrupt) for a bad id.
  virtual std::variant<TypedStorage, Tensor> load(const pickle::Node& id, size_t word) = 0;
};

struct Rebuilt {
  Tensor tensor;
  TensorRole role = TensorRole::kTensor;
  // The call that holds the data: the node itself, or what a Parameter or subclass wraps. find(*core) gives
  // the tensor without what the wrapping adds.
  const pickle::Node* core = nullptr;
};

class Rebuilder {
 public:
  explicit Rebuilder(PersistentSource& source) : source_(source) {}

  // The tensor that unpickling the node would give; null when it would give something else. The same
  // node gives the same tensor. Throws Error(kCorrupt, kUnsupported) for a tensor that cannot be.
  const Rebuilt* find(const pickle::Node& node);

 private:
  const Rebuilt* find_at(const pickle::Node& node, int depth);
  std::optional<Rebuilt> rebuild(const pickle::Node& node, int depth);
  Tensor part(const pickle::Node& node, int depth);
  Tensor tensor_from_list(const pickle::Node& list, DType dtype);
  TypedStorage storage_of(const pickle::Node& node, size_t word);
  std::optional<Rebuilt> rebuild_torch_utils(const pickle::Node& node, std::string_view function,
                                             std::span<pickle::Node* const> args, int depth);
  Tensor rebuild_strided(std::span<pickle::Node* const> args, bool dtype_is_given);
  Tensor rebuild_quantized(std::span<pickle::Node* const> args, int depth);
  Tensor rebuild_sparse(std::span<pickle::Node* const> args, int depth);
  Tensor rebuild_script_sparse(std::span<pickle::Node* const> args, int depth);
  Tensor rebuild_meta(std::span<pickle::Node* const> args);

  PersistentSource& source_;
  // Only of what is a tensor: a pickle has many more calls that are not.
  std::unordered_map<const pickle::Node*, Rebuilt> cache_;
  // What many tensors may refer to is made once.
  BitResolver bits_;
  NumpyReader numpy_;
  std::map<std::pair<const pickle::Node*, DType>, Tensor> lists_;
};

// What small values look like in a pickle. Each throws Error(kCorrupt) naming what was found.
Dims dims_from_node(const pickle::Node& node);  // tuple, list or torch.Size
DType dtype_from_node(const pickle::Node& node);
// "torch.FloatStorage", "torch.cuda.HalfStorage", "torch.storage.UntypedStorage".
struct StorageClass {
  DType dtype;
  bool is_untyped;
};
StorageClass storage_class_from_node(const pickle::Node& node);

}  // namespace flambeau
