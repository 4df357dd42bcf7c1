// NumPy arrays and scalars as pickles hold them; torch.load(weights_only=True) can be told to allow them.
#pragma once

#include "flambeau/archive/pickle_tree.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

// Whether unpickling the node would give a NumPy array or scalar of numbers.
bool is_numpy_array_call(const pickle::Node& node);
// That array as a tensor. Throws Error(kCorrupt), and Error(kUnsupported) for types without a counterpart.
Tensor tensor_from_numpy(const pickle::Node& node);

}  // namespace flambeau
