// The functions of a mobile module in a flatbuffer as bytecode.
#pragma once

#include <functional>

#include "flambeau/archive/flatbuffer/reader.h"
#include "flambeau/script/bytecode/bytecode.h"

namespace flambeau::script {

// Everything but constants and default values, which are values of the module. Throws Error(kCorrupt) for
// another shape, kUnsupported for an instruction that mobile modules do not have, located at the function.
bytecode::Code read_flat_function(const flatbuffer::Table& function, size_t object_type_count);
// Those.
void fill_flat_function(const flatbuffer::Table& function,
                        const std::function<IValue(uint32_t number)>& value_at, bytecode::Code& code);

}  // namespace flambeau::script
