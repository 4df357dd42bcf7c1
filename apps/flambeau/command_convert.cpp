// flambeau convert: from any file of weights to another.
#include <fmt/format.h>

#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

WeightFormat output_format(const ConvertCommandOptions& options) {
  const std::string name = options.format.empty() ? options.output : "x." + options.format;
  if (const std::optional<WeightFormat> format = weight_format_for(name)) return *format;
  throw Error(ErrorCode::kInvalidArgument, "the format cannot be told from the name",
              "use an ending of .pt, .pth, .safetensors or .npz, or say --format")
      .add_location("file", options.output);
}

// A torch.save file keeps everything around the tensors. What is not plain data would go along with it, and
// the new file would be as dangerous as the old one.
void need_plain_data(const Checkpoint& checkpoint, const std::string& path) {
  const std::vector<std::string> names = unsafe_globals(checkpoint.tree());
  if (names.empty()) return;
  throw Error(ErrorCode::kUnsafe,
              fmt::format("holds more than data: {}{}", printable(names.front()),
                          names.size() == 1 ? "" : fmt::format(" and {} other names", names.size() - 1)),
              "keep the tensors alone with --filter '*'")
      .add_location("file", path);
}

bool is_torchscript(const Checkpoint& checkpoint) {
  return checkpoint.kind() == FileKind::kTorchScript || checkpoint.kind() == FileKind::kTorchScriptMobile;
}

}  // namespace

int run_convert(const ConvertCommandOptions& options, const CommonOptions& common) {
  if (options.output.ends_with(".pt2") || options.output.ends_with(".json"))
    return convert_program(options, common);
  if (!options.layout.empty() || !options.schema.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--layout and --schema are for programs",
                "give an output ending in .pt2 or .json");
  }
  const WeightFormat format = output_format(options);
  ThreadPool pool(common.threads);
  ProgressBar progress(common.quiet || common.json);
  ConvertOptions convert;
  convert.patterns = options.filters;
  convert.pool = &pool;
  convert.keep_sharing = format == WeightFormat::kTorchSave;
  if (!options.dtype.empty()) {
    convert.dtype = dtype_from_name(options.dtype);
    if (!convert.dtype) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is not an element type", printable(options.dtype)),
                  fmt::format("known are {}", dtype_names()));
    }
  }
  Checkpoint loaded = load_checkpoint(options.input);
  std::vector<std::string> skipped;
  for (const auto& [name, reason] : loaded.skipped()) {
    if (name_matches(name, options.filters))
      skipped.push_back(fmt::format("{}: {}", printable(name), reason));
  }
  const bool keeps_structure = format == WeightFormat::kTorchSave && options.filters.empty();
  if (!skipped.empty() && !keeps_structure) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("{} tensors cannot be converted, the first is {}", skipped.size(), skipped.front()),
        "leave them out with --filter")
        .add_location("file", options.input);
  }
  // The module around TorchScript's tensors means nothing to torch.load: its weights become a state dict.
  if (is_torchscript(loaded)) loaded = Checkpoint::from_tensors(loaded.named());
  if (keeps_structure) need_plain_data(loaded, options.input);
  const Checkpoint checkpoint =
      with_location("file", options.input, [&] { return transform(std::move(loaded), convert); });
  save_checkpoint(checkpoint, options.output, format, progress);

  uint64_t bytes = 0;
  for (const CheckpointTensor& entry : checkpoint.tensors()) bytes += entry.tensor.byte_count();
  if (common.json) {
    json::Value value;
    value.set("input", options.input);
    value.set("output", options.output);
    value.set("tensors", static_cast<uint64_t>(checkpoint.tensors().size()));
    value.set("bytes", bytes);
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{}: {}, {}\n", styled(printable(options.output, 400), Style::kBold),
               counted(checkpoint.tensors().size(), "tensor"), human_bytes(bytes));
  }
  return kExitOk;
}

}  // namespace flambeau::cli
