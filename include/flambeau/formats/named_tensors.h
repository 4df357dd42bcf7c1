// What every weights format gives and takes: tensors with names, in file order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

// What a tensor was to whoever saved it.
enum class TensorRole : uint8_t { kTensor, kParameter, kStorage, kNumpyArray };

}  // namespace flambeau
