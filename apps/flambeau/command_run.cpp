// flambeau run: an exported program on the CPU; its outputs shown, written and compared.
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>

#include "commands.h"
#include "compiled/run_native.h"
#include "flambeau/error.h"
#include "flambeau/json.h"
#include "model_inputs.h"
#include "output_stream.h"
#include "outputs/run_outputs.h"
#include "profile_table.h"
#include "progress_bar.h"
#include "reports.h"
#include "run_watch.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct RunCommandOptions {
  ModelOptions model;
  std::string method = "forward";
  std::string output;
  std::string check_against;
  double relative = -1;  // tolerances; negative: those of the type
  double absolute = -1;
  bool profile = false;
  bool native = false;
  uint64_t limit = 20;
};

int run_run(const RunCommandOptions& options, const CommonOptions& common) {
  if (options.native) {
    return run_native({options.model.file,
                       options.model.model,
                       options.model.inputs,
                       options.output,
                       options.check_against,
                       {options.relative, options.absolute},
                       options.model.seed},
                      common);
  }
  const ModelSource source = open_source(options.model.file);
  if (source.is_script) {
    return run_script({source,
                       options.method,
                       options.model.inputs,
                       options.model.operators,
                       options.output,
                       options.check_against,
                       {options.relative, options.absolute},
                       options.model.seed},
                      common);
  }
  RunWatch watch(common.quiet || common.json);
  const std::string& file = options.model.file;
  watch.begin("loading");
  const auto start = Clock::now();
  Program program = open_program(file, options.model, common, source.bytes);
  program.manual_seed(options.model.seed);
  const auto loaded = Clock::now();
  const std::vector<Value> inputs = with_model(file, [&] { return gather_inputs(program, options.model); });
  Profile profile;
  RunOptions run_options;
  if (options.profile) run_options.profile = &profile;
  watch.begin("running");
  const auto begun = Clock::now();
  const std::vector<Value> outputs = with_model(file, [&] { return program.run(inputs, run_options); });
  const auto finished = Clock::now();
  const std::vector<Leaf>& leaves = program.outputs();

  watch.begin("writing and comparing");
  json::Array written;
  if (!options.output.empty()) written = save_outputs(options.output, leaves, outputs);
  std::vector<OutputCheck> checks;
  if (!options.check_against.empty())
    checks = check_outputs(options.check_against, leaves, outputs, {options.relative, options.absolute});

  // The outputs themselves are on standard output.
  const bool is_quiet = common.quiet || is_standard_output(options.output);
  if (common.json && !is_standard_output(options.output)) {
    json::Value value;
    value.set("file", file);
    value.set("load_ms", milliseconds(loaded - start));
    value.set("run_ms", milliseconds(finished - begun));
    value.set("threads", program.pool().threads());
    json::Array given;
    for (size_t i = 0; i < inputs.size(); ++i) given.push_back(leaf_json(program.inputs()[i], inputs[i]));
    value.set("inputs", std::move(given));
    value.set("outputs", outputs_json(leaves, outputs, written, program.pool()));
    if (options.profile) value.set("profile", profile_json(profile, 1));
    if (!options.check_against.empty()) value.set("check", checks_json(checks));
    print_json(value);
  } else {
    if (!is_quiet) {
      fmt::print("{}: loaded in {}, ran in {} ({})\n", styled(printable(file, 400), Style::kBold),
                 duration_text(loaded - start), duration_text(finished - begun),
                 counted(static_cast<uint64_t>(program.pool().threads()), "thread"));
      print_outputs(leaves, outputs, program.pool());
      if (!written.empty()) {
        fmt::print("\nwritten to {}: {}\n", printable(options.output, 400),
                   counted(written.size(), "output"));
      }
      if (options.profile) {
        print_by_node(profile, 1, options.limit);
        print_by_operator(profile, 1, options.limit);
      }
    }
    if (!checks.empty() && !is_standard_output(options.output))
      print_checks(checks, options.check_against, is_quiet);
  }
  return has_difference(checks) ? kExitFound : kExitOk;
}

}  // namespace

Command run_command() {
  auto options = std::make_shared<RunCommandOptions>();
  std::vector<Option> list = model_options(options->model);
  constexpr double kMost = std::numeric_limits<double>::max();
  list.insert(
      list.end(),
      {
          Option("--method", "Of TorchScript: the method to call", &options->method).shows_default(),
          Option("-o,--output",
                 "Where the outputs go: a .npy, .npz, .safetensors or .pt file, a folder for .npy files and "
                 "outputs.json, or - for standard output",
                 &options->output)
              .takes(Takes::kOutput),
          Option("--check-against",
                 "Compare the outputs with .npy, .pt, .safetensors, or a folder that --output wrote",
                 &options->check_against)
              .takes(Takes::kInput),
          Option("--rtol", "Relative tolerance (default: as torch.testing.assert_close, by type)",
                 &options->relative)
              .between(0, kMost),
          Option("--atol", "Absolute tolerance (default: likewise)", &options->absolute).between(0, kMost),
          Option(
              "--run-native-code",
              "Of a package that PyTorch's compiler made: load its library, which is code of whoever made it",
              &options->native),
          Option("-p,--profile", "Show the time of each node and operator", &options->profile),
          Option("-n,--limit", "Rows of the profile; 0 for all", &options->limit).shows_default(),
      });
  return {"run",
          "Run an exported program or a TorchScript module and show its outputs",
          std::move(list),
          {{"run model.pt2", "with the inputs it was exported with"},
           {"run model.pt2 --input x=photo.npy --cast --output y.npy", "a float64 photo, too"},
           {"run model.pt2 --size batch=8", "random inputs, of that size"},
           {"run model.pt2 --check-against expected.pt", "the same as in PyTorch?"},
           {"run --run-native-code aoti.pt2 -i random:2x8", "the library that PyTorch's compiler made"},
           {"run script.pt --method encode -i random:1x80 -i scale=2.0", "of TorchScript, any method"}},
          [options](const CommonOptions& common) { return run_run(*options, common); },
          "Inputs have the names that 'flambeau inspect' shows (x), or the places in the call (args[0], "
          "kwargs['mask']).\n"
          "What is not given is taken from the inputs that the program was exported with, which most files "
          "hold.\n"
          "  NAME=FILE            .npy, or .pt, .safetensors, .npz with one tensor or one of that name; - is "
          "standard input\n"
          "  NAME=random          as torch.manual_seed(SEED); torch.randn(...) draws them; integers and "
          "bools 0 and 1\n"
          "  NAME=random:8x128    of these sizes; NAME=random:0..99 integers from 0 to 99; both: "
          "random:8x128:0..99\n"
          "  NAME=zeros, ones     likewise, or any NUMBER to fill a tensor with; the value of an input that "
          "is a number\n"
          "  '*=random'           all inputs that are not named\n"
          "Arguments of TorchScript are given in their order, or by name: FILE, random:8x128, zeros:2x3, "
          "ones:2, a number,\n"
          "True, None, 'text', [1, 2], {'a': 1.5}, (random:2, 3).\n"
          "Exit codes: 0 done, 1 --check-against found a difference, 2 an error."};
}

}  // namespace flambeau::cli
