// The numbers by which the program format names element types, layouts and memory formats; they are its own.
#pragma once

#include <cstdint>

#include "flambeau/graph/meta.h"
#include "flambeau/tensor/dtype.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::pt2 {

// Each throws Error(kUnsupported) for a number or type the format does not know.
DType dtype_from_schema(int64_t number);
int64_t schema_number(DType dtype);
Layout layout_from_schema(int64_t number);
int64_t schema_number(Layout layout);
MemoryFormat memory_format_from_schema(int64_t number);
int64_t schema_number(MemoryFormat format);

}  // namespace flambeau::pt2
