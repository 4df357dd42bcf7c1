// PyTorch can mark a tensor as "conjugate" or "negate when read" instead of changing its values.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

// Carries the marks out on whole storages, when first read and once for all views: a file can have many
// marked views of one storage, and views that repeat it.
class BitResolver {
 public:
  // The same view of a storage with the signs turned; the tensor itself when nothing is marked. Throws
  // Error(kCorrupt) for a mark that the type cannot have.
  Tensor resolve(const Tensor& tensor, bool conjugate, bool negate);

 private:
  struct Resolved {
    std::shared_ptr<Storage> original;  // keeps the key alive
    std::shared_ptr<Storage> storage;
  };
  std::map<std::tuple<const Storage*, DType, bool, bool>, Resolved> resolved_;
};

}  // namespace flambeau
