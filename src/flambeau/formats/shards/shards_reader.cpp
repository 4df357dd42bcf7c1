#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/shards/shards.h"

namespace flambeau {
namespace {

Checkpoint open_shard(const std::string& path) {
  const std::shared_ptr<Mapping> mapping = open_beside(path);
  const RecognizedFile file = recognize_file(mapping);
  if (format_of(file.kind).is_index())
    throw Error(ErrorCode::kCorrupt, "a shard is an index itself").add_location("file", path);
  return load_checkpoint(file, mapping);
}

using ByName = std::unordered_map<std::string_view, const CheckpointTensor*>;

struct Shard {
  Checkpoint checkpoint;
  ByName by_name;
  size_t taken = 0;
};

const CheckpointTensor& take(Shard& shard, const std::string& name, const std::string& file) {
  const auto found = shard.by_name.find(name);
  if (found != shard.by_name.end()) {
    ++shard.taken;
    return *found->second;
  }
  for (const auto& [skipped, reason] : shard.checkpoint.skipped()) {
    if (skipped == name) throw Error(ErrorCode::kUnsupported, reason).add_location("tensor", name);
  }
  std::vector<std::string> names;
  for (const auto& [each, tensor] : shard.by_name) names.emplace_back(each);
  std::ranges::sort(names);
  throw Error(
      ErrorCode::kCorrupt,
      fmt::format("the index says it is in '{}', which has no such tensor", printable(file)),
      did_you_mean(name, names, "the index and the file are not of one model: copy or download both again"))
      .add_location("tensor", name);
}

Checkpoint read_all(const ShardIndex& index, const std::filesystem::path& folder) {
  std::vector<Shard> shards;
  shards.reserve(index.files.size());
  for (const std::string& file : index.files) {
    Shard& shard = shards.emplace_back(Shard{open_shard((folder / file).string()), {}, 0});
    for (const CheckpointTensor& entry : shard.checkpoint.tensors())
      shard.by_name.emplace(entry.name, &entry);
  }
  std::vector<CheckpointTensor> entries;
  entries.reserve(index.entries.size());
  for (const ShardIndex::Entry& entry : index.entries)
    entries.push_back(take(shards[entry.file], entry.tensor, index.files[entry.file]));
  CheckpointExtras extras;
  for (size_t i = 0; i < shards.size(); ++i) {
    const auto& list = shards[i].checkpoint.skipped();
    extras.skipped.insert(extras.skipped.end(), list.begin(), list.end());
    if (const size_t left = shards[i].by_name.size() - shards[i].taken; left != 0) {
      extras.notes.push_back(
          fmt::format("the index does not mention {} of the tensors in '{}', which are left out", left,
                      printable(index.files[i])));
    }
  }
  if (!shards.empty()) extras.metadata = shards.front().checkpoint.metadata();
  return CheckpointBuilder::from_entries(std::move(entries), std::move(extras));
}

}  // namespace

void need_folder(const Mapping& index) {
  if (index.has_file()) return;
  throw Error(ErrorCode::kUnsupported,
              "is an index of weights in other files, which are looked for beside it",
              "give the index as a file, or the folder it is in");
}

std::shared_ptr<Mapping> open_beside(const std::string& path) {
  // Nobody but the index named it: a pipe would keep the reader waiting, a device might never end.
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::kUnsafe, "is no regular file, and an index leads to it")
        .add_location("file", path);
  }
  try {
    return Mapping::open(path);
  } catch (Error& error) {
    if (error.code() == ErrorCode::kNotFound)
      error.set_remedy("the index needs this file beside it: copy or download it too");
    throw;
  }
}

Checkpoint read_shards(const std::shared_ptr<Mapping>& index) {
  need_folder(*index);
  return read_all(read_shard_index(as_text(index->bytes())),
                  std::filesystem::path(index->path()).parent_path());
}

}  // namespace flambeau
