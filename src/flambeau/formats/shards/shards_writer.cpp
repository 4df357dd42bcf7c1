#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/text.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/shards/shards.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {
namespace {

namespace fs = std::filesystem;

// All are open until the last one is written.
constexpr size_t kMostShards = 500;

// "x/model.safetensors": the name that a single file would have.
fs::path whole_file(const std::string& path, const Format& format) {
  std::error_code failure;
  const bool is_folder = path.ends_with('/') || fs::is_directory(path, failure);
  const fs::path name = format.model_file;
  if (is_folder) return fs::path(path) / name;
  return weight_format_for(path) ? fs::path(path) : fs::path(path) / name;
}

fs::path shard_file(const fs::path& whole, size_t number, size_t count) {
  const std::string name =
      fmt::format("{}-{:05}-of-{:05}{}", whole.stem().string(), number, count, whole.extension().string());
  return whole.parent_path() / name;
}

// A tensor with a storage of its own: a shard must not carry the rest of a storage that others share.
Tensor alone(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided || tensor.is_meta() || tensor.quantizer() != nullptr) return tensor;
  const uint64_t bytes = tensor.byte_count();
  if (tensor.is_contiguous() && tensor.storage()->size() == bytes) return tensor;
  Tensor copy = Tensor::contiguous(
      tensor.dtype(), tensor.sizes(), Storage::lazy(bytes, [tensor, bytes] {
        std::vector<uint8_t> packed;
        packed.reserve(bytes);
        emit_pieces(
            tensor, [&](ByteSpan piece) { packed.insert(packed.end(), piece.begin(), piece.end()); },
            Progress::silent());
        return packed;
      }));
  copy.set_requires_grad(tensor.requires_grad());
  return copy;
}

std::vector<NamedTensors> split(const Checkpoint& checkpoint, uint64_t most) {
  std::vector<NamedTensors> shards(1);
  uint64_t filled = 0;
  ExpansionBudget budget(checkpoint.tensors());
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    with_location("tensor", entry.name, [&] { budget.spend(entry.tensor); });
    const uint64_t bytes = entry.tensor.byte_count();
    if (!shards.back().empty() && (bytes > most || filled > most - bytes)) {
      shards.emplace_back();
      filled = 0;
    }
    filled += bytes;
    shards.back().push_back({entry.name, alone(entry.tensor)});
  }
  if (shards.size() > kMostShards) {
    throw Error(ErrorCode::kLimit, fmt::format("the weights would fill {} files", shards.size()),
                fmt::format("choose a larger size: {} files are the most", kMostShards));
  }
  return shards;
}

// Readers look for the one file before they look for an index.
void refuse_other_model(const fs::path& whole) {
  std::error_code failure;
  if (!fs::exists(whole, failure)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "is there already, and would be taken for the model instead of the shards",
              "remove it, or write to another folder")
      .add_location("file", whole.string());
}

void make_parent(const fs::path& whole) {
  std::error_code failure;
  if (!whole.parent_path().empty()) fs::create_directories(whole.parent_path(), failure);
  if (!failure) return;
  throw Error(ErrorCode::kIo, fmt::format("the folder cannot be made: {}", failure.message()))
      .add_location("file", whole.parent_path().string());
}

// Transformers reads only safetensors that say for which framework they are.
std::vector<std::pair<std::string, std::string>> shard_metadata(const Checkpoint& checkpoint) {
  std::vector<std::pair<std::string, std::string>> metadata = checkpoint.metadata();
  for (const auto& [key, value] : metadata) {
    if (key == "format") return metadata;
  }
  metadata.emplace_back("format", "pt");
  return metadata;
}

}  // namespace

ShardedFiles save_shards(const Checkpoint& checkpoint, const std::string& path, FileKind format,
                         uint64_t most, Progress& progress, FileApi& api) {
  if (!format_of(format).can_write() || format_of(format).model_file.empty()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} files have no shards", format_of(format).name),
                "write .safetensors or .bin");
  }
  const fs::path whole = whole_file(path, format_of(format));
  std::vector<NamedTensors> shards = split(checkpoint, most);
  const bool is_whole = shards.size() == 1;
  const fs::path index_file = whole.string() + std::string(kIndexEnding);
  if (!is_whole) refuse_other_model(whole);
  make_parent(whole);

  ShardedFiles written;
  written.main = is_whole ? whole.string() : index_file.string();
  ShardIndex index;
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (NamedTensors& shard : shards) {
    const fs::path target = is_whole ? whole : shard_file(whole, files.size() + 1, shards.size());
    for (const NamedTensor& entry : shard) {
      index.entries.push_back({entry.name, index.files.size()});
      written.bytes =
          checked_add<uint64_t>(written.bytes, entry.tensor.byte_count(), "the size of all tensors");
    }
    index.files.push_back(target.filename().string());
    written.shards.push_back(target.string());
    files.push_back(std::make_unique<AtomicFile>(target.string(), api));
    const Checkpoint part = Checkpoint::from_tensors(std::move(shard), shard_metadata(checkpoint));
    write_checkpoint(*files.back(), part, format, "archive", progress);
    files.back()->finish();
  }
  // From here on it takes moments. An old index goes first: it must not name a mixture of old and new files.
  if (api.unlink(index_file.c_str()) != 0 && errno != ENOENT) {
    throw Error(ErrorCode::kIo, "the old index cannot be removed").add_location("file", index_file.string());
  }
  for (const std::unique_ptr<AtomicFile>& file : files) file->commit();
  if (is_whole) return written;
  AtomicFile file(index_file.string(), api);
  file.write_text(write_shard_index(index, written.bytes));
  file.commit();
  return written;
}

std::optional<uint64_t> parse_byte_count(std::string_view text) {
  struct Unit {
    std::string_view name;
    uint64_t bytes;
  };
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"b", 1},
                                    {"kb", 1000},
                                    {"mb", 1000'000},
                                    {"gb", 1000'000'000},
                                    {"tb", 1000'000'000'000},
                                    {"kib", 1ULL << 10},
                                    {"mib", 1ULL << 20},
                                    {"gib", 1ULL << 30},
                                    {"tib", 1ULL << 40}};
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number == 0) return {};
  std::string unit = lowered(std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)));
  unit.erase(0, unit.find_first_not_of(' '));
  for (const Unit& each : kUnits) {
    if (each.name == unit) return try_mul<uint64_t>(number, each.bytes);
  }
  return {};
}

}  // namespace flambeau
