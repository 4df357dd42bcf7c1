// flambeau graph: an exported program as text, JSON or a drawing; of TorchScript, the graph of a method.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/json.h"
#include "flambeau/program.h"
#include "flambeau/report.h"
#include "output_stream.h"
#include "reports.h"
#include "script/script_files.h"

namespace flambeau::cli {
namespace {

struct GraphCommandOptions {
  std::string file;
  std::string format = "text";
  std::string output = "-";
  std::string model;
  std::string method = "forward";
  bool modules = false;
};

std::string rendered(const graph::ExportedProgram& program, const GraphCommandOptions& options,
                     bool as_json) {
  if (as_json) return json::dump(report::strict(json::parse(pt2::write_program(program))), 2) + "\n";
  if (options.format == "json") return json::dump(json::parse(pt2::write_program(program)), 2) + "\n";
  if (options.format == "dot") {
    graph::DotOptions dot;
    dot.modules = options.modules;
    return to_dot(program, dot);
  }
  graph::TextOptions text;
  text.lossless = options.format == "full";
  return to_text(program, text);
}

std::string program_text(const ModelSource& source, const GraphCommandOptions& options,
                         const CommonOptions& common) {
  Package package = source.bytes == nullptr
                        ? load_package(options.file)
                        : with_location("file", options.file, [&] { return load_package(source.bytes); });
  return with_location("file", options.file,
                       [&] { return rendered(package.model(options.model).program, options, common.json); });
}

int run_graph(const GraphCommandOptions& options, const CommonOptions& common) {
  const ModelSource source = open_source(options.file);
  const std::string text =
      source.is_script ? script_graph(source, options.method) : program_text(source, options, common);
  if (is_standard_output(options.output)) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitOk;
  }
  AtomicFile file(options.output);
  file.write_text(text);
  file.commit();
  return kExitOk;
}

}  // namespace

Command graph_command() {
  auto options = std::make_shared<GraphCommandOptions>();
  return {
      "graph",
      "Print an exported program, or a method of a TorchScript module",
      {
          Option("FILE", ".pt2, the JSON of a program, or a TorchScript module; - is standard input",
                 &options->file)
              .required()
              .takes(Takes::kInput),
          Option("--format",
                 "As PyTorch prints it (text), with everything that is in the file (full), json, or dot "
                 "for Graphviz",
                 &options->format)
              .one_of({"text", "full", "json", "dot"})
              .shows_default(),
          Option("--modules", "With --format dot: nest nodes in the modules they come from",
                 &options->modules),
          Option("-o,--output", "A file (default: standard output)", &options->output).takes(Takes::kOutput),
          Option("--model", "Of an archive with several programs: the one to print", &options->model),
          Option("--method", "Of TorchScript: forward, layer1.0.forward", &options->method).shows_default(),
      },
      {{"graph model.pt2", "the program as PyTorch prints it"},
       {"graph --format full a.pt2 -o a.txt", "edit it, and make a program of it again:"},
       {"convert a.txt b.pt2 --weights a.pt2", ""},
       {"graph --method layer1.0.forward script.pt", "of a TorchScript module"},
       {"graph --format dot --modules model.pt2 | dot -Tsvg -o model.svg", ""}},
      [options](const CommonOptions& common) { return run_graph(*options, common); }};
}

}  // namespace flambeau::cli
