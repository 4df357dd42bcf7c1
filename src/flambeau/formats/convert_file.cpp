#include "flambeau/formats/convert_file.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/safety/known_globals.h"
#include "flambeau/formats/shards/shards.h"

namespace flambeau {
namespace {

// A torch.save file keeps everything around the tensors. What is not plain data would go along with it, and
// the new file would be as dangerous as the old one.
void need_plain_data(const Checkpoint& checkpoint) {
  const std::vector<std::string> names = unsafe_globals(checkpoint.tree());
  if (names.empty()) return;
  throw Error(ErrorCode::kUnsafe,
              fmt::format("holds more than data: {}{}", printable(names.front()),
                          names.size() == 1 ? "" : fmt::format(" and {} other names", names.size() - 1)),
              "keep the tensors alone with --filter '*'");
}

void need_all_tensors(const Checkpoint& checkpoint, const std::vector<std::string>& patterns) {
  size_t count = 0;
  std::string first;
  for (const auto& [name, reason] : checkpoint.skipped()) {
    if (!name_matches(name, patterns)) continue;
    if (count++ == 0) first = fmt::format("{}: {}", printable(name), reason);
  }
  if (count == 0) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} tensors cannot be converted, the first is {}", count, first),
              "leave them out with --filter");
}

bool keeps_structure(FileKind format, const ConvertFileOptions& options) {
  return format_of(format).writer.keeps_structure && options.patterns.empty() && !options.shard_size;
}

Checkpoint prepared(Checkpoint loaded, FileKind format, const ConvertFileOptions& options) {
  ConvertOptions how;
  how.dtype = options.dtype;
  how.patterns = options.patterns;
  how.pool = options.pool;
  how.keep_sharing = format_of(format).writer.keeps_structure && !options.shard_size;
  if (!keeps_structure(format, options)) need_all_tensors(loaded, options.patterns);
  // The module around TorchScript's tensors means nothing to torch.load: its weights become a state dict.
  if (format_of(loaded.kind()).is_torchscript) loaded = Checkpoint::from_tensors(loaded.named());
  if (keeps_structure(format, options)) need_plain_data(loaded);
  return transform(std::move(loaded), how);
}

ConvertedFile write_prepared(const Checkpoint& checkpoint, const std::string& output, FileKind format,
                             const ConvertFileOptions& options, Progress& progress) {
  ConvertedFile result;
  result.tensors = checkpoint.tensors().size();
  for (const CheckpointTensor& entry : checkpoint.tensors()) result.bytes += entry.tensor.byte_count();
  if (!options.shard_size) {
    save_checkpoint(checkpoint, output, format, progress);
    result.files = {output};
    return result;
  }
  ShardedFiles written = save_shards(checkpoint, output, format, *options.shard_size, progress);
  result.files = {written.main};
  for (std::string& shard : written.shards) {
    if (shard != written.main) result.files.push_back(std::move(shard));
  }
  return result;
}

}  // namespace

FileKind output_format(const std::string& output, const ConvertFileOptions& options) {
  if (options.format) return *options.format;
  if (const std::optional<FileKind> format = weight_format_for(output)) return *format;
  if (options.shard_size) return FileKind::kSafetensors;  // a folder of them
  throw Error(ErrorCode::kInvalidArgument, "the format cannot be told from the name",
              "use an ending of .pt, .pth, .safetensors or .npz, or say --format")
      .add_location("file", output);
}

Checkpoint load_for_conversion(const std::string& input, FileKind format, const ConvertFileOptions& options) {
  Checkpoint loaded = load_checkpoint(input);
  return with_location("file", input, [&] { return prepared(std::move(loaded), format, options); });
}

ConvertedFile convert_checkpoint(Checkpoint checkpoint, const std::string& output,
                                 const ConvertFileOptions& options, Progress& progress) {
  const FileKind format = output_format(output, options);
  return write_prepared(prepared(std::move(checkpoint), format, options), output, format, options, progress);
}

ConvertedFile convert_file(const std::string& input, const std::string& output,
                           const ConvertFileOptions& options, Progress& progress) {
  const FileKind format = output_format(output, options);
  return write_prepared(load_for_conversion(input, format, options), output, format, options, progress);
}

}  // namespace flambeau
