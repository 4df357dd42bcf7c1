// flambeau graph: an exported program as text, JSON or a drawing.
#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/program.h"
#include "reports.h"

namespace flambeau::cli {
namespace {

std::string rendered(const graph::ExportedProgram& program, const GraphCommandOptions& options,
                     bool as_json) {
  if (as_json || options.format == "json")
    return json::dump(json::parse(pt2::write_program(program)), 2) + "\n";
  if (options.format == "dot") {
    graph::DotOptions dot;
    dot.modules = options.modules;
    return to_dot(program, dot);
  }
  graph::TextOptions text;
  text.lossless = options.format == "full";
  return to_text(program, text);
}

}  // namespace

int run_graph(const GraphCommandOptions& options, const CommonOptions& common) {
  pt2::Package package = pt2::read_package(options.file);
  const std::string text = with_location("file", options.file, [&] {
    return rendered(package.model(options.model).program, options, common.json);
  });
  if (options.output.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitOk;
  }
  AtomicFile file(options.output);
  file.write_text(text);
  file.commit();
  return kExitOk;
}

}  // namespace flambeau::cli
