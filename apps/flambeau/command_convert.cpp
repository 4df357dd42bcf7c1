// flambeau convert: from any file of weights to another.
#include <fmt/format.h>

#include <memory>

#include "command_convert.h"
#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "output_stream.h"
#include "progress_bar.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

std::vector<std::string> all_dtype_names() {
  std::vector<std::string> names;
  for (const DTypeInfo& info : all_dtypes()) names.emplace_back(info.name);
  return names;
}

DType element_type(const std::string& text) {
  if (const std::optional<DType> dtype = parse_dtype(text)) return *dtype;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is not an element type", printable(text)),
              did_you_mean(text, all_dtype_names(), fmt::format("known are {}", dtype_names())));
}

ConvertFileOptions file_options(const ConvertCommandOptions& options) {
  ConvertFileOptions how;
  if (!options.dtype.empty()) how.dtype = element_type(options.dtype);
  how.patterns = options.filters;
  if (!options.format.empty()) how.format = weight_format_for("x." + options.format);
  if (options.shard_size != 0) how.shard_size = options.shard_size;
  return how;
}

// The weights themselves are on standard output, and nothing else.
int convert_to_stdout(const ConvertCommandOptions& options, const ConvertFileOptions& how,
                      Progress& progress) {
  if (!how.format || how.shard_size) {
    throw Error(ErrorCode::kInvalidArgument,
                how.shard_size ? "shards are several files, standard output is one"
                               : "the format cannot be told from the name '-'",
                how.shard_size ? "name a folder" : "say --format, or --layout for a program");
  }
  const Checkpoint checkpoint = load_for_conversion(options.input, *how.format, how);
  OutputStream out(options.output);
  write_checkpoint(out, checkpoint, *how.format, "archive", progress);
  out.commit();
  return kExitOk;
}

bool is_program_output(const ConvertCommandOptions& options) {
  return options.output.ends_with(".pt2") || options.output.ends_with(".json") ||
         (is_standard_output(options.output) && !options.layout.empty());
}

void report(const ConvertCommandOptions& options, const ConvertedFile& written, const CommonOptions& common) {
  if (common.json) {
    json::Value value;
    value.set("input", options.input);
    value.set("output", options.output);
    value.set("tensors", static_cast<uint64_t>(written.tensors));
    value.set("bytes", written.bytes);
    if (options.shard_size != 0) value.set("files", json::Array(written.files.begin(), written.files.end()));
    print_json(value);
  } else if (!common.quiet) {
    const size_t shards = written.files.size() - 1;
    fmt::print("{}: {}, {}{}\n", styled(printable(written.files.front(), 400), Style::kBold),
               counted(written.tensors, "tensor"), human_bytes(written.bytes),
               shards == 0 ? "" : fmt::format(", in {}", counted(shards, "shard")));
  }
}

// A module stays a module where the output's ending is one of modules, and nothing is asked for that only
// weights have.
bool is_script_output(const ConvertCommandOptions& options) {
  if (options.script || options.freeze) return true;
  if (options.weights_only || !options.format.empty() || !options.filters.empty() || options.shard_size != 0)
    return false;
  bool is_named = false;
  for (const char* const ending : {".pt", ".pth", ".jit", ".ts", ".torchscript"})
    is_named = is_named || options.output.ends_with(ending);
  return (is_named || !options.methods.empty()) && !is_standard_output(options.input) &&
         is_script_file(options.input);
}

int run_convert(const ConvertCommandOptions& options, const CommonOptions& common) {
  if (options.output.ends_with(".ptl") || options.output.ends_with(".ff") ||
      !options.mobile_version.empty()) {
    if (options.freeze) {
      throw Error(ErrorCode::kInvalidArgument, "--freeze does not write bytecode",
                  "freeze into a .pt file first, and convert that");
    }
    save_mobile_script(options.input, options.output, options.mobile_version, !options.bytecode_only, common);
    return kExitOk;
  }
  if (is_script_output(options)) {
    ScriptConversion how{options.input, options.output, {}, options.methods, options.freeze, options.model};
    if (!options.dtype.empty()) how.dtype = element_type(options.dtype);
    convert_script(how, common);
    return kExitOk;
  }
  if (!options.methods.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--method is for TorchScript modules",
                "give a file of torch.jit.save, and an output ending in .pt");
  }
  if (is_program_output(options)) return convert_program(options, common);
  if (!options.layout.empty() || !options.schema.empty() || options.simplify) {
    throw Error(ErrorCode::kInvalidArgument, "--layout, --schema and --simplify are for programs",
                "give an output ending in .pt2 or .json");
  }
  ThreadPool pool(common.threads);
  ProgressBar progress(common.quiet || common.json);
  ConvertFileOptions how = file_options(options);
  how.pool = &pool;
  if (is_standard_output(options.output)) return convert_to_stdout(options, how, progress);
  report(options, convert_file(options.input, options.output, how, progress), common);
  return kExitOk;
}

}  // namespace

Command convert_command() {
  auto options = std::make_shared<ConvertCommandOptions>();
  return {
      "convert",
      "Convert weights, programs and TorchScript modules, by the output's ending",
      {
          Option("IN",
                 "torch.save (any age), TorchScript, .safetensors, .gguf, .npy, .npz or .pt2; an index of "
                 "shards or "
                 "a Hugging Face folder; - is standard input",
                 &options->input)
              .required()
              .takes(Takes::kInput),
          Option(
              "OUT",
              ".pt, .pth, .safetensors or .npz; for programs .pt2 or .json; - is standard output. A "
              "TorchScript module "
              "stays one in .pt, .pth, .jit, .ts, and gets bytecode for mobile interpreters in .ptl and .ff",
              &options->output)
              .required()
              .takes(Takes::kOutput),
          Option("-d,--dtype", "Convert floating-point tensors to this type, e.g. bfloat16", &options->dtype)
              .such_as({"float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"}),
          Option("-f,--filter",
                 "Keep tensors whose name matches: * and ? as in a shell; '!x*' leaves out; may be repeated",
                 &options->filters),
          Option("--format", "The output's format when its ending does not tell", &options->format)
              .one_of({"pt", "safetensors", "npz"}),
          Option(
              "--shard-size",
              "Write several files of at most this size, 5GB for example, and their index, as Hugging Face "
              "does; OUT may be a folder",
              &options->shard_size)
              .in_bytes()
              .such_as({"1GB", "5GB", "10GB"}),
          Option("--layout",
                 "Of a program: archive (PyTorch 2.8 and newer), zip (2.1 to 2.7), json (without weights)",
                 &options->layout)
              .one_of({"archive", "zip", "json"}),
          Option("--schema", "Of a program: the version to write, e.g. 8.8 for PyTorch 2.8",
                 &options->schema),
          Option("--simplify",
                 "Of a program: compute equal things once and constants now, and leave out what nobody uses",
                 &options->simplify),
          Option("--script",
                 "Write a TorchScript module, whatever the output is called; an exported program becomes one",
                 &options->script),
          Option("--weights-only", "Of TorchScript: write its tensors alone", &options->weights_only)
              .excludes("--script"),
          Option("--method", "Of TorchScript: keep this method and what it calls; may be repeated",
                 &options->methods),
          Option("--freeze",
                 "Of TorchScript: attributes become constants of the code, for inference; --method keeps "
                 "others than forward",
                 &options->freeze)
              .excludes("--weights-only"),
          Option("--mobile-version",
                 "Of a mobile module: the version of its bytecode, 8 unless told; 9 is a flatbuffer",
                 &options->mobile_version)
              .one_of({"4", "5", "6", "7", "8", "9"}),
          Option("--bytecode-only", "Of a flatbuffer: leave out the code, for mobile interpreters alone",
                 &options->bytecode_only),
          Option("--weights",
                 "For a program that was edited as text or JSON: the .pt2 file to take its weights from",
                 &options->weights)
              .takes(Takes::kInput),
          Option("--model", "Of an archive with several programs: the one to take", &options->model),
      },
      {{"convert model.pt model.safetensors", "by the output's ending"},
       {"convert --dtype bfloat16 a.pt b.pt", "floating-point tensors to another type"},
       {"convert --filter 'encoder.*' a.pt b.npz", "only some tensors"},
       {"convert --shard-size 5GB big.pt folder", "as a Hugging Face folder"},
       {"convert --layout zip new.pt2 old.pt2", "for PyTorch 2.1 to 2.7"},
       {"convert --dtype float16 script.pt half.pt", "a TorchScript module, saved as PyTorch 2.13 saves it"},
       {"convert --freeze script.pt frozen.pt", "for inference: no calls, no attributes"},
       {"convert --weights-only script.pt weights.pt", "its tensors alone"},
       {"convert model.pt model.ptl", "a TorchScript module for mobile interpreters"},
       {"convert model.pt model.ff", "the same as a flatbuffer"},
       {"convert --script program.pt2 model.pt", "an exported program as a TorchScript module"}},
      [options](const CommonOptions& common) { return run_convert(*options, common); }};
}

}  // namespace flambeau::cli
