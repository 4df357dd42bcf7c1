// What every weights format gives and takes: tensors with names, in file order.
#pragma once

#include <string>
#include <vector>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

}  // namespace flambeau
