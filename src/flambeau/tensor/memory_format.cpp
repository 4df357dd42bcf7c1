#include "flambeau/tensor/memory_format.h"

namespace flambeau {

std::string_view memory_format_name(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kContiguous:
      return "contiguous_format";
    case MemoryFormat::kPreserve:
      return "preserve_format";
    case MemoryFormat::kChannelsLast:
      return "channels_last";
    case MemoryFormat::kChannelsLast3d:
      return "channels_last_3d";
  }
  return "unknown";
}

std::optional<MemoryFormat> memory_format_from_name(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const MemoryFormat format : {MemoryFormat::kContiguous, MemoryFormat::kPreserve,
                                    MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast3d}) {
    if (memory_format_name(format) == name) return format;
  }
  return {};
}

}  // namespace flambeau
