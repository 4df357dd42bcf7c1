// PyTorch's memory formats: which strides a dense tensor of given sizes should have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flambeau {

// By PyTorch's own numbers (c10::MemoryFormat).
enum class MemoryFormat : uint8_t { kContiguous = 0, kPreserve = 1, kChannelsLast = 2, kChannelsLast3d = 3 };
// "contiguous_format", "channels_last", ...
std::string_view memory_format_name(MemoryFormat format);
// The same, also with "torch." before it; nothing when unknown.
std::optional<MemoryFormat> memory_format_from_name(std::string_view name);

}  // namespace flambeau
