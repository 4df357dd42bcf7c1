#include "flambeau/tensor/elements/compute.h"

#include "flambeau/tensor/elements/element_types.h"

namespace flambeau {

DType compute_dtype(DType dtype) {
  switch (compute_type(dtype)) {
    case Compute::kFloat:
      return DType::kFloat32;
    case Compute::kDouble:
      return DType::kFloat64;
    case Compute::kInt64:
      return DType::kInt64;
    case Compute::kUInt64:
      return DType::kUInt64;
    case Compute::kComplexFloat:
      return DType::kComplex64;
    case Compute::kComplexDouble:
      return DType::kComplex128;
  }
  return dtype;
}

bool is_plain(DType dtype) {
  return dtype_info(dtype).is_complex || with_element_type(dtype, false, [](auto) { return true; });
}

}  // namespace flambeau
