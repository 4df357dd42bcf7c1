// NumPy's type codes and what PyTorch calls them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flambeau/tensor/dtype.h"

namespace flambeau {

struct NpyType {
  DType dtype;
  bool is_swapped;  // big-endian
};

// "<f4". Throws Error(kUnsafe) for objects, Error(kUnsupported) for a type that PyTorch does not have or that
// NumPy did not name, Error(kCorrupt) for what is no type at all.
NpyType parse_npy_type(std::string_view descr);

// The code of a type, little-endian; nothing when NumPy has no such type.
std::optional<std::string> npy_type_code(DType dtype);

}  // namespace flambeau
