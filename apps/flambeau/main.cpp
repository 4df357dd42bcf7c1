// The command line of flambeau: options, help, and the one place where errors become messages.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "commands.h"
#include "flambeau/error.h"
#include "reports.h"
#include "supervisor.h"

namespace {

using namespace flambeau::cli;  // NOLINT: this file is the command itself

constexpr const char* kDescription =
    "Flambeau: PyTorch models without PyTorch.\n"
    "Looks into, checks, converts and runs the files that PyTorch writes. Nothing inside of a file runs, "
    "except the\n"
    "graph of an exported program that you tell it to run.";

constexpr const char* kFooter =
    "Examples:\n"
    "  flambeau inspect model.pt                          what is it, which tensors does it hold\n"
    "  flambeau inspect --stats model.safetensors         with min, max, mean and NaN count\n"
    "  flambeau check download.pt && echo harmless        would opening it in Python run anything\n"
    "  flambeau convert model.pt model.safetensors        by the output's ending\n"
    "  flambeau convert --dtype bfloat16 a.pt b.pt        floating-point tensors to another type\n"
    "  flambeau convert --filter 'encoder.*' a.pt b.npz   only some tensors\n"
    "  flambeau diff a.pt b.safetensors                   tensor by tensor\n"
    "  flambeau list model.pt; flambeau extract model.pt data.pkl -o -\n"
    "  flambeau inspect model.pt2                         inputs, outputs, operators of an exported program\n"
    "  flambeau verify model.pt2                          is everything in it as it must be\n"
    "  flambeau graph model.pt2                           the program as PyTorch prints it\n"
    "  flambeau run model.pt2                             with the inputs it was exported with\n"
    "  flambeau run model.pt2 --input x=x.npy --output results\n"
    "  flambeau bench model.pt2 --threads 1               latency, throughput, memory, time by operator\n"
    "  flambeau export resnet18 --dynamic 0=batch -o r.pt2  an example model, traced from its C++ code\n"
    "  flambeau convert --layout zip new.pt2 old.pt2      for PyTorch 2.1 to 2.7\n"
    "  flambeau graph --format full a.pt2 -o a.txt        edit it, and make a program of it again:\n"
    "  flambeau convert a.txt b.pt2 --weights a.pt2\n"
    "\n"
    "Exit codes: 0 done (check: harmless, verify: valid, diff and run --check-against: equal), 1 they found "
    "something, 2 an error.";

constexpr const char* kRunFooter =
    "Inputs have the names that 'flambeau inspect' shows (x), or the places in the call (args[0], "
    "kwargs['mask']).\n"
    "What is not given is taken from the inputs that the program was exported with, which most files hold.\n"
    "  NAME=FILE            .npy, or .pt, .safetensors, .npz with one tensor or one of that name\n"
    "  NAME=random          as torch.manual_seed(SEED); torch.randn(...) draws them; integers and bools 0 "
    "and 1\n"
    "  NAME=random:8x128    of these sizes; NAME=random:0..99 integers from 0 to 99; both: "
    "random:8x128:0..99\n"
    "  NAME=zeros, ones     likewise, or any NUMBER to fill a tensor with; the value of an input that is a "
    "number\n"
    "  '*=random'           all inputs that are not named\n"
    "\n"
    "Examples:\n"
    "  flambeau run model.pt2\n"
    "  flambeau run model.pt2 --input x=photo.npy --output results\n"
    "  flambeau run model.pt2 --input ids=random:1x16:0..30000 --profile\n"
    "  flambeau run model.pt2 --size s0=8                 random inputs, with the symbol s0 being 8\n"
    "  flambeau run model.pt2 --check-against expected.pt && echo the same as in PyTorch\n"
    "  flambeau run custom.pt2 --operators ./libmy_operators.so\n"
    "\n"
    "Exit codes: 0 done, 1 --check-against found a difference, 2 an error.";

constexpr const char* kBenchFooter =
    "Inputs are given as to 'flambeau run' (see 'flambeau run --help').\n"
    "\n"
    "Examples:\n"
    "  flambeau bench model.pt2 --threads 1\n"
    "  flambeau bench model.pt2 --size s0=8 --seconds 10\n"
    "  flambeau bench old.pt2 --compare new.pt2           run by run alternating, with the ratio of the "
    "medians\n"
    "  flambeau bench model.pt2 --runs 100 --json         for scripts";

// What run and bench have in common.
void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.file, "An exported program: .pt2")->required();
  command
      .add_option("-i,--input", options.inputs,
                  "NAME=FILE, NAME=random, NAME=zeros or NAME=NUMBER; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--size", options.sizes, "SYMBOL=NUMBER: a dynamic size of random inputs; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Of random inputs and random operators")->capture_default_str();
  command.add_option("--model", options.model, "Of an archive with several programs: the one to run");
  command
      .add_option("--operators", options.operators,
                  "A shared library with operators that the program needs; its code runs. May be repeated")
      ->allow_extra_args(false);
  command.add_flag("--no-plan", options.no_plan, "Interpret node by node, without planning ahead");
}

// One line: what is wrong with the command line, and where help is.
int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string command = "flambeau";
  std::string message = error.what();
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty()) {
    command += " " + chosen.front()->get_name();
  } else if (argc > 1 && argv[1][0] != '-') {
    message = fmt::format("'{}' is not a subcommand", flambeau::printable(argv[1]));
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "flambeau: {} (see '{} --help')\n", message, command);
  return kExitError;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{kDescription, "flambeau"};
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("flambeau ") + FLAMBEAU_VERSION);
  app.require_subcommand(1);
  app.fallthrough();

  CommonOptions common;
  app.add_flag("--json", common.json, "Print one JSON document, for scripts");
  app.add_flag("-q,--quiet", common.quiet, "Print only errors and findings; no progress");
  app.add_option("-j,--threads", common.threads, "Threads to work with (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--time-limit", common.time_limit, "Stop after that many seconds")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-limit", common.memory_limit, "Stop beyond that much memory: 500MB, 4GB")
      ->transform(CLI::AsSizeValue(true));

  InspectOptions inspect;
  CLI::App* inspect_app = app.add_subcommand("inspect", "Show what files are and what they hold");
  inspect_app->add_option("FILE", inspect.files, "Files to look into")->required();
  inspect_app->add_flag("-s,--stats", inspect.statistics, "Read the weights too: min, max, mean, NaN count");
  inspect_app->add_flag("-r,--records", inspect.records, "List the records of the archive");
  inspect_app->add_flag("-g,--globals", inspect.globals, "List every name that the pickles mention");
  inspect_app->add_flag("--structure", inspect.structure, "Draw the nesting even of a flat state dict");
  inspect_app->add_option("-n,--limit", inspect.limit, "Rows per table; 0 for all")->capture_default_str();

  ListOptions list;
  CLI::App* list_app = app.add_subcommand("list", "List the records of an archive");
  list_app->add_option("FILE", list.file, "An archive: .pt, .ptl, .pt2, .npz")->required();

  ExtractOptions extract;
  CLI::App* extract_app = app.add_subcommand("extract", "Write records of an archive to files");
  extract_app->add_option("FILE", extract.file, "An archive: .pt, .ptl, .pt2, .npz")->required();
  extract_app->add_option(
      "RECORD", extract.records,
      "Names as 'flambeau list' shows them, with or without the top folder (default: all)");
  extract_app->add_option("-o,--output", extract.output,
                          "A file for one record, a folder for more, - for standard output");

  ConvertCommandOptions convert;
  CLI::App* convert_app =
      app.add_subcommand("convert", "Convert weights to another format, by the output's ending");
  convert_app
      ->add_option("IN", convert.input, "torch.save (any age), TorchScript, .safetensors, .npy, .npz or .pt2")
      ->required();
  convert_app
      ->add_option("OUT", convert.output, ".pt, .pth, .safetensors or .npz; for programs .pt2 or .json")
      ->required();
  convert_app->add_option("-d,--dtype", convert.dtype,
                          "Convert floating-point tensors to this type, e.g. bfloat16");
  convert_app
      ->add_option(
          "-f,--filter", convert.filters,
          "Keep tensors whose name matches: * and ? as in a shell; '!x*' leaves out; may be repeated")
      ->allow_extra_args(false);  // one pattern each: what follows is a file
  convert_app->add_option("--format", convert.format, "The output's format when its ending does not tell")
      ->check(CLI::IsMember({"pt", "safetensors", "npz"}));
  convert_app
      ->add_option("--layout", convert.layout,
                   "Of a program: archive (PyTorch 2.8 and newer), zip (2.1 to 2.7), json (without weights)")
      ->check(CLI::IsMember({"archive", "zip", "json"}));
  convert_app->add_option("--schema", convert.schema,
                          "Of a program: the version to write, e.g. 8.8 for PyTorch 2.8");
  convert_app->add_option(
      "--weights", convert.weights,
      "For a program that was edited as text or JSON: the .pt2 file to take its weights from");
  convert_app->add_option("--model", convert.model, "Of an archive with several programs: the one to take");

  DiffOptions diff;
  CLI::App* diff_app = app.add_subcommand(
      "diff", "Compare two files: exported programs by what they compute, then weights, of any formats");
  diff_app->add_option("A", diff.a, "The first file")->required();
  diff_app->add_option("B", diff.b, "The second file")->required();
  diff_app
      ->add_option("-f,--filter", diff.filters, "Compare only tensors whose name matches; may be repeated")
      ->allow_extra_args(false);
  diff_app
      ->add_option("-t,--tolerance", diff.tolerance, "Count values as equal up to this absolute difference")
      ->check(CLI::NonNegativeNumber);
  diff_app->add_flag("--ignore-dtype", diff.ignore_dtype, "Compare by value where the types differ");

  CheckOptions check;
  CLI::App* check_app =
      app.add_subcommand("check", "Report whether files are safe to open; exit code 0 only if so");
  check_app->add_option("FILE", check.files, "Files to check")->required();

  VerifyCommandOptions verify;
  CLI::App* verify_app = app.add_subcommand(
      "verify", "Report everything that is wrong with exported programs; exit code 0 only if nothing is");
  verify_app->add_option("FILE", verify.files, ".pt2 files, or the JSON of programs")->required();
  verify_app
      ->add_option("--dialect", verify.dialect,
                   "Which operators are allowed: what the program says of itself (auto), everything "
                   "(training), functional "
                   "ones (aten), the core set (core), core with tensors only (edge)")
      ->check(CLI::IsMember({"auto", "training", "aten", "core", "edge"}))
      ->capture_default_str();
  verify_app->add_option("-n,--limit", verify.limit, "Findings per program")->capture_default_str();

  ExportCommandOptions exported;
  CLI::App* export_app =
      app.add_subcommand("export", "Trace an example model written in C++ and save it as a .pt2");
  export_app
      ->add_option("MODEL", exported.model, "resnet18, unet, bert, gpt2, llama or lstm_tagger (small ones)")
      ->required();
  export_app->add_option("-o,--output", exported.output, "The file (default: trace it only)");
  export_app->add_option("--dynamic", exported.dynamic,
                         "A dimension of the first input that may vary: 0=batch, 0=batch:2..64, 1=AUTO; "
                         "repeatable");
  export_app->add_option("--size", exported.sizes,
                         "Sizes of the example: batch=2, length=16, image=64; repeatable");
  export_app->add_option("--weights", exported.weights, "A state dict (default: initial values)");
  export_app->add_option("--seed", exported.seed, "For the initial values and the example inputs");
  export_app->add_flag("--train", exported.train, "As in training: dropout, statistics of batches");
  export_app->add_option("--preserve", exported.preserved,
                         "A module whose calls the program describes, e.g. layer1.0; repeatable");
  export_app->add_flag("--strict", exported.strict, "Refuse what the trace cannot see");
  export_app->add_flag("--decompose", exported.decompose, "Into the functional core operators");
  export_app->add_flag("--print", exported.print, "Print the program");

  GraphCommandOptions graph;
  CLI::App* graph_app = app.add_subcommand("graph", "Print an exported program");
  graph_app->add_option("FILE", graph.file, ".pt2, or the JSON of a program")->required();
  graph_app
      ->add_option("--format", graph.format,
                   "As PyTorch prints it (text), with everything that is in the file (full), json, or dot "
                   "for Graphviz")
      ->check(CLI::IsMember({"text", "full", "json", "dot"}))
      ->capture_default_str();
  graph_app->add_flag("--modules", graph.modules,
                      "With --format dot: nest nodes in the modules they come from");
  graph_app->add_option("-o,--output", graph.output, "A file (default: standard output)");
  graph_app->add_option("--model", graph.model, "Of an archive with several programs: the one to print");

  CanonicalizeOptions canonicalize;
  CLI::App* canonicalize_app = app.add_subcommand(
      "canonicalize", "Bring an exported program into the form in which equal programs are equal text");
  canonicalize_app->add_option("FILE", canonicalize.file, ".pt2, or the JSON of a program")->required();
  canonicalize_app->add_option("-o,--output", canonicalize.output,
                               ".json or .pt2 (default: JSON to standard output)");
  canonicalize_app->add_option("--model", canonicalize.model,
                               "Of an archive with several programs: the one to take");

  RunCommandOptions run;
  CLI::App* run_app = app.add_subcommand("run", "Run an exported program and show its outputs");
  run_app->footer(kRunFooter);
  add_model_options(*run_app, run.model);
  run_app->add_option("-o,--output", run.output, "A folder for the outputs: .npy files and outputs.json");
  run_app->add_option("--check-against", run.check_against,
                      "Compare the outputs with .npy, .pt, .safetensors, or a folder that --output wrote");
  run_app
      ->add_option("--rtol", run.relative,
                   "Relative tolerance (default: as torch.testing.assert_close, by type)")
      ->check(CLI::NonNegativeNumber);
  run_app->add_option("--atol", run.absolute, "Absolute tolerance (default: likewise)")
      ->check(CLI::NonNegativeNumber);
  run_app->add_flag("-p,--profile", run.profile, "Show the time of each node and operator");
  run_app->add_option("-n,--limit", run.limit, "Rows of the profile; 0 for all")->capture_default_str();

  BenchOptions bench;
  CLI::App* bench_app = app.add_subcommand("bench", "Measure how fast an exported program runs");
  bench_app->footer(kBenchFooter);
  add_model_options(*bench_app, bench.model);
  CLI::Option* runs =
      bench_app->add_option("-r,--runs", bench.runs, "How many timed runs")->check(CLI::PositiveNumber);
  bench_app->add_option("-s,--seconds", bench.seconds, "How long to run instead")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->excludes(runs);
  bench_app->add_option("-w,--warmup", bench.warmup, "Runs that are not counted before; at least one")
      ->capture_default_str();
  bench_app->add_option("--compare", bench.compare, "Another program to run in turns with this one");
  bench_app->add_flag("-p,--profile", bench.profile, "Show the time of each node, too");
  bench_app->add_option("-n,--limit", bench.limit, "Rows of the tables; 0 for all")->capture_default_str();

  std::string shell;
  CLI::App* completion_app = app.add_subcommand("completion", "Print a completion script for your shell");
  completion_app->add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report_usage(app, error, argc, argv);
  }

  const auto run_chosen = [&] {
    if (*run_app) return run_run(run, common);
    if (*bench_app) return run_bench(bench, common);
    if (*inspect_app) return run_inspect(inspect, common);
    if (*list_app) return run_list(list, common);
    if (*extract_app) return run_extract(extract, common);
    if (*convert_app) return run_convert(convert, common);
    if (*diff_app) return run_diff(diff, common);
    if (*check_app) return run_check(check, common);
    if (*verify_app) return run_verify(verify, common);
    if (*export_app) return run_export(exported, common);
    if (*graph_app) return run_graph(graph, common);
    if (*canonicalize_app) return run_canonicalize(canonicalize, common);
    return run_completion(shell);
  };
  try {
    const int code = [&] {
      const Supervisor supervisor(common);
      return run_chosen();
    }();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    // A full disk must not pass for success in a script.
    report_error(flambeau::Error(flambeau::ErrorCode::kIo, "standard output cannot be written"), {});
    return kExitError;
  } catch (const flambeau::Error& error) {
    report_error(error, common);
  } catch (const std::bad_alloc&) {
    report_error(flambeau::Error(flambeau::ErrorCode::kLimit, "not enough memory"), common);
  } catch (const std::exception& error) {
    report_error(flambeau::Error(flambeau::ErrorCode::kInternal, error.what(),
                                 "this is a bug of Flambeau: please report it"),
                 common);
  }
  return kExitError;
}
