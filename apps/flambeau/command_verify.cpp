// flambeau verify: everything that is wrong with exported programs.
#include <fmt/format.h>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/program.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

graph::Dialect dialect_of(const std::string& name) {
  if (name == "training") return graph::Dialect::kTraining;
  if (name == "aten") return graph::Dialect::kAten;
  if (name == "core") return graph::Dialect::kCoreAten;
  if (name == "edge") return graph::Dialect::kEdge;
  return graph::Dialect::kAuto;
}

json::Value finding_json(const graph::Finding& finding) {
  json::Value value;
  value.set("rule", finding.rule);
  value.set("where", finding.where);
  value.set("message", finding.message);
  value.set("remedy", finding.remedy);
  return value;
}

void print_finding(const graph::Finding& finding) {
  fmt::print("  {} {}: {}\n", styled(finding.rule, Style::kRed),
             styled(printable(finding.where, 200), Style::kCyan), printable(finding.message, 600));
  if (!finding.remedy.empty()) fmt::print("      {}\n", styled(printable(finding.remedy, 400), Style::kDim));
}

}  // namespace

int run_verify(const VerifyCommandOptions& options, const CommonOptions& common) {
  graph::VerifyOptions verify_options;
  verify_options.dialect = dialect_of(options.dialect);
  verify_options.most_findings = options.limit;
  json::Array results;
  int exit_code = kExitOk;
  for (const std::string& path : options.files) {
    json::Value result;
    result.set("file", path);
    json::Array findings;
    try {
      const pt2::Package package = pt2::read_package(path);
      if (package.models.empty()) {
        throw Error(ErrorCode::kNotFound, "the archive has no exported program").add_location("file", path);
      }
      uint64_t nodes = 0;
      for (const pt2::Model& model : package.models) {
        nodes += model.program.graph().node_count();
        for (const graph::Finding& finding : verify(model.program, verify_options)) {
          json::Value entry = finding_json(finding);
          if (package.models.size() > 1) entry.set("program", model.name);
          findings.push_back(std::move(entry));
          if (common.json) continue;
          if (findings.size() == 1) fmt::print("{}:\n", styled(printable(path, 400), Style::kBold));
          print_finding(finding);
        }
      }
      if (!findings.empty() && exit_code == kExitOk) exit_code = kExitFound;
      if (findings.empty() && !common.json && !common.quiet) {
        fmt::print("{}: valid, {}{}\n", styled(printable(path, 400), Style::kBold), counted(nodes, "node"),
                   package.models.front().program.has_weights ? "" : ", without weights");
      }
      result.set("valid", findings.empty());
      json::Array notes;
      for (const std::string& note : package.notes) notes.emplace_back(note);
      result.set("notes", std::move(notes));
    } catch (const Error& error) {
      exit_code = kExitError;
      if (common.json) {
        result = error_json(error);
        result.set("file", path);
      } else {
        report_error(error, common);
      }
    }
    result.set("findings", std::move(findings));
    results.push_back(std::move(result));
  }
  if (common.json) print_json(results.size() == 1 ? std::move(results[0]) : json::Value(std::move(results)));
  return exit_code;
}

}  // namespace flambeau::cli
