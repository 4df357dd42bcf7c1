// flambeau convert and canonicalize, where the files are exported programs.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "command_convert.h"
#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/json.h"
#include "flambeau/operators.h"
#include "flambeau/passes.h"
#include "flambeau/program.h"
#include "output_stream.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct CanonicalizeOptions {
  std::string file;
  std::string output = "-";
  std::string model;
};

PackageLayout output_layout(const ConvertCommandOptions& options, PackageLayout input) {
  const bool is_json = options.output.ends_with(".json");
  if (!options.layout.empty()) {
    const PackageLayout layout = *pt2::layout_from_name(options.layout);
    if (is_standard_output(options.output)) return layout;
    if (is_json != (layout == PackageLayout::kJson)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the layout '{}' does not go with the output's ending", options.layout),
                  "a .pt2 file has the layout archive or zip, a .json file the layout json")
          .add_location("file", options.output);
    }
    return layout;
  }
  if (is_json) return PackageLayout::kJson;
  return input == PackageLayout::kZip ? PackageLayout::kZip : PackageLayout::kArchive;
}

void save_to(const Package& package, const std::string& path, PackageLayout layout, Progress& progress) {
  if (!is_standard_output(path)) return save_package(package, path, layout, progress);
  OutputStream out(path);
  write_package(out, package, layout, "archive", progress);
  out.commit();
}

void report_notes(const pt2::Notes& notes, const CommonOptions& common) {
  if (common.quiet || common.json) return;
  for (const std::string& note : notes) print_to_stderr("note: {}\n", printable(note, 400));
}

json::Array notes_json(const pt2::Notes& notes) {
  json::Array array;
  for (const std::string& note : notes) array.emplace_back(note);
  return array;
}

}  // namespace

int convert_program(const ConvertCommandOptions& options, const CommonOptions& common) {
  if (!options.dtype.empty() || !options.filters.empty() || !options.format.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--dtype, --filter and --format are for weights, not for programs",
                "give an output ending in .pt, .safetensors or .npz to take the weights alone");
  }
  ProgressBar progress(common.quiet || common.json);
  Package package = load_package(options.input);
  if (!options.weights.empty()) {
    const Package source = load_package(options.weights);
    with_location("file", options.weights, [&] { take_weights(package, source); });
  }
  const PackageLayout layout = output_layout(options, package.layout);
  if (!options.model.empty()) {
    pt2::Model chosen =
        with_location("file", options.input, [&] { return std::move(package.model(options.model)); });
    package.models.clear();
    // PyTorch opens the program of this name when not told otherwise.
    chosen.name = "model";
    package.models.push_back(std::move(chosen));
  }
  if (!options.schema.empty()) {
    const pt2::SchemaVersion version = pt2::parse_schema_version(options.schema);
    for (pt2::Model& model : package.models) {
      with_location("file", options.input, [&] { pt2::set_schema(model.program, version, package.notes); });
    }
  }
  if (options.simplify) {
    const ops::Library library;
    for (pt2::Model& model : package.models)
      with_location("file", options.input, [&] { passes::simplify(model.program, library); });
  }
  save_to(package, options.output, layout, progress);
  report_notes(package.notes, common);
  if (is_standard_output(options.output)) return kExitOk;
  uint64_t nodes = 0, tensors = 0;
  for (const pt2::Model& model : package.models) {
    nodes += model.program.graph().node_count();
    tensors += model.program.state_dict.size() + model.program.constants.size();
  }
  if (common.json) {
    json::Value value;
    value.set("input", options.input);
    value.set("output", options.output);
    value.set("layout", pt2::layout_name(layout));
    value.set("programs", static_cast<uint64_t>(package.models.size()));
    value.set("nodes", nodes);
    value.set("tensors", tensors);
    value.set("notes", notes_json(package.notes));
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{}: {}, {}, {}\n", styled(printable(options.output, 400), Style::kBold),
               counted(package.models.size(), "program"), counted(nodes, "node"), counted(tensors, "tensor"));
  }
  return kExitOk;
}

namespace {

int run_canonicalize(const CanonicalizeOptions& options, const CommonOptions& common) {
  Package package = load_package(options.file);
  pt2::Model& model =
      with_location("file", options.file, [&]() -> pt2::Model& { return package.model(options.model); });
  model.program = with_location("file", options.file, [&] { return graph::canonicalize(model.program); });
  if (is_standard_output(options.output)) {
    const std::string text = pt2::write_program(model.program);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitOk;
  }
  ProgressBar progress(common.quiet || common.json);
  const bool is_json = options.output.ends_with(".json");
  if (is_json && package.models.size() > 1) {
    Package one;
    one.models.push_back(std::move(model));
    package = std::move(one);
  }
  const PackageLayout layout = is_json                                 ? PackageLayout::kJson
                               : package.layout == PackageLayout::kZip ? PackageLayout::kZip
                                                                       : PackageLayout::kArchive;
  save_package(package, options.output, layout, progress);
  report_notes(package.notes, common);
  if (common.json) {
    json::Value value;
    value.set("input", options.file);
    value.set("output", options.output);
    value.set("notes", notes_json(package.notes));
    print_json(value);
  }
  return kExitOk;
}

}  // namespace

Command canonicalize_command() {
  auto options = std::make_shared<CanonicalizeOptions>();
  return {"canonicalize",
          "Bring an exported program into the form in which equal programs are equal text",
          {
              Option("FILE", ".pt2, or the JSON of a program; - is standard input", &options->file)
                  .required()
                  .takes(Takes::kInput),
              Option("-o,--output", ".json or .pt2 (default: JSON to standard output)", &options->output)
                  .takes(Takes::kOutput),
              Option("--model", "Of an archive with several programs: the one to take", &options->model),
          },
          {{"canonicalize model.pt2 > model.json", "the same for equal programs"},
           {"canonicalize model.pt2 -o canonical.pt2", ""}},
          [options](const CommonOptions& common) { return run_canonicalize(*options, common); }};
}

}  // namespace flambeau::cli
