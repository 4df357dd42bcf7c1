// The element types of safetensors and what PyTorch calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flambeau/tensor/dtype.h"

namespace flambeau {

// What the reference library allows a header to be.
constexpr uint64_t kMostSafetensorsHeader = 100'000'000;
constexpr std::string_view kSafetensorsMetadataKey = "__metadata__";

struct SafetensorsType {
  std::string_view name;
  std::optional<DType> dtype;  // nothing: PyTorch has no such type
  uint8_t bits;                // of one element of the header's shape
  uint8_t rank;                // the writer puts higher ones first, so that everything is aligned
};

// Null when unknown.
const SafetensorsType* find_safetensors_type(std::string_view name);
const SafetensorsType* find_safetensors_type(DType dtype);

}  // namespace flambeau
