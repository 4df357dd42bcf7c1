// NumPy arrays and scalars as pickles hold them; torch.load(weights_only=True) can be told to allow them.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

// Whether unpickling the node would give a NumPy array or scalar of numbers.
bool is_numpy_array_call(const pickle::Node& node);

class NumpyReader {
 public:
  // That array as a tensor. Arrays over the same bytes of the pickle share a storage: a few bytes are enough
  // to refer to them once more. Throws Error(kCorrupt), and Error(kUnsupported) for types without a
  // counterpart.
  Tensor read(const pickle::Node& node);

 private:
  // `word`: the unit in which the bytes are to be reversed, 1 for none.
  std::shared_ptr<Storage> storage_of(const pickle::Node& data, size_t word);
  Tensor make(const pickle::Node& type, const Dims& sizes, bool is_fortran, const pickle::Node& data);

  std::map<std::pair<const pickle::Node*, size_t>, std::shared_ptr<Storage>> storages_;
};

}  // namespace flambeau
