// The index of weights in several files, as Hugging Face folders have it: model.safetensors.index.json says
// which file beside it holds which tensor.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau {

struct ShardIndex {
  struct Entry {
    std::string tensor;
    size_t file;  // of `files`
  };
  std::vector<std::string> files;  // plain names, in the order in which the index mentions them
  std::vector<Entry> entries;
};

// Throws Error(kCorrupt) located at the byte or the tensor, Error(kUnsafe) for a file name that leads out of
// the index's folder.
ShardIndex read_shard_index(std::string_view text);

// The text of an index: {"metadata": {"total_size": N}, "weight_map": {...}}, sorted by tensor as Hugging
// Face sorts it.
std::string write_shard_index(const ShardIndex& index, uint64_t total_size);

// A name beside the index, and nothing else: an index may come from anybody. Throws Error(kUnsafe).
void need_plain_name(const std::string& name);

// Whether a JSON text begins as an index does.
bool looks_like_shard_index(ByteSpan bytes);

// The file that stands for a path: the path itself, or of a folder the weights in it, looked for in the order
// in which transformers looks. Throws Error(kNotFound) located at a folder without any.
std::string weights_file_of(const std::string& path);

// "model.safetensors.index.json" of "model.safetensors".
inline constexpr std::string_view kIndexEnding = ".index.json";

}  // namespace flambeau
