// The halves of write_npy, for whoever puts arrays into a larger file.
#pragma once

#include <string>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

struct NpyPlan {
  std::string header;
  Tensor data;  // its elements in packed order follow the header
};

// Throws as write_npy.
NpyPlan plan_npy(const Tensor& tensor);

}  // namespace flambeau
