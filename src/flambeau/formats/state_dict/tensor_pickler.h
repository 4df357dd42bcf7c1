// Describes tensors as torch.save does: a rebuild call per tensor, a numbered key per storage.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

class TensorPickler {
 public:
  explicit TensorPickler(pickle::Tree& tree);

  // Must be told of every tensor first: a storage seen through two element types is written untyped.
  void announce(const Tensor& tensor);
  // The call that rebuilds the tensor. Throws Error(kUnsupported).
  pickle::Node* describe(const Tensor& tensor);
  // The parts of that call: torch._utils._rebuild_... and its arguments.
  struct Description {
    pickle::Node* function;
    pickle::Node* args;
  };
  Description describe_parts(const Tensor& tensor);
  // A storage on its own, as torch.save(tensor.storage()) has it; the tensor spans all of it. `is_untyped`:
  // as torch.save(tensor.untyped_storage()) has it.
  pickle::Node* describe_storage(const Tensor& tensor, bool is_untyped);

  // In order of their keys: "0", "1", ...
  const std::vector<std::shared_ptr<Storage>>& storages() const { return storages_; }

 private:
  pickle::Node* global(std::string_view module, std::string_view name);
  pickle::Node* persistent_storage(const Tensor& tensor, bool is_untyped);
  pickle::Node* layout(Layout layout);
  pickle::Node* dims(const Dims& values);
  pickle::Node* size(const Dims& values);
  pickle::Node* hooks();
  pickle::Node* quantizer(const Quantizer& quantizer);
  bool needs_untyped(const Tensor& tensor) const;

  pickle::Tree& tree_;
  pickle::Node* storage_word_;
  std::unordered_map<std::string, pickle::Node*> globals_;
  std::unordered_map<std::string, pickle::Node*> locations_;
  std::unordered_map<Layout, pickle::Node*> layouts_;
  struct Known {
    DType dtype;
    bool has_two_types = false;
    pickle::Node* key = nullptr;  // one object in Python, so written once
  };
  std::unordered_map<const Storage*, Known> known_;
  std::vector<std::shared_ptr<Storage>> storages_;
};

}  // namespace flambeau
