// GGUF, the file of llama.cpp: metadata by key, then tensors, plain or quantized in blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/named_tensors.h"

namespace flambeau {

struct GgufTensor {
  std::string name;
  std::string_view type;  // "F32", "Q4_K"; static
  Tensor tensor;          // float32 of a quantized one, decoded when it is read
  bool is_quantized = false;
};

struct GgufMetadata {
  std::string key;
  std::string_view type;  // "uint32", "string", "array of string"; static
  std::string text;       // of an array its first values and how many there are
  bool is_array = false;
};

struct GgufFile {
  uint32_t version = 0;
  uint64_t alignment = 32;
  std::vector<GgufMetadata> metadata;  // in file order
  std::vector<GgufTensor> tensors;     // likewise
  // Tensors of types that are not decoded: name and reason.
  std::vector<std::pair<std::string, std::string>> skipped;
};

// Versions 2 and 3, little-endian. Dimensions are given as PyTorch orders them, the fastest one last. Plain
// tensors are views of the mapping. Throws Error(kCorrupt) located at the key, tensor or byte,
// Error(kUnsupported) for other versions, Error(kLimit) for more descriptions than a file of this size needs.
GgufFile read_gguf(const std::shared_ptr<Mapping>& mapping);

bool looks_like_gguf(ByteSpan bytes);

}  // namespace flambeau
