// flambeau verify: everything that is wrong with exported programs and TorchScript modules.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/program.h"
#include "flambeau/report.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct VerifyCommandOptions {
  std::vector<std::string> files;
  std::string dialect = "auto";
  uint64_t limit = 100;
};

void print_finding(const graph::Finding& finding) {
  fmt::print("  {} {}: {}\n", styled(finding.rule, Style::kRed),
             styled(printable(finding.where, 200), Style::kCyan), printable(finding.message, 600));
  if (!finding.remedy.empty()) fmt::print("      {}\n", styled(printable(finding.remedy, 400), Style::kDim));
}

void print_verification(const std::string& path, const report::Verification& found) {
  const std::string file = styled(printable(path, 400), Style::kBold);
  if (found.findings.empty()) {
    fmt::print("{}: valid, {}{}\n", file, counted(found.nodes, "node"),
               found.has_weights ? "" : ", without weights");
    return;
  }
  fmt::print("{}:\n", file);
  for (const report::Verification::Entry& entry : found.findings) print_finding(entry.finding);
}

int run_verify(const VerifyCommandOptions& options, const CommonOptions& common) {
  graph::VerifyOptions verify_options;
  verify_options.dialect = report::dialect_from_name(options.dialect);
  verify_options.most_findings = options.limit;
  json::Array results;
  int exit_code = kExitOk;
  for (const std::string& path : options.files) {
    try {
      if (is_script_file(path)) {
        if (!verify_script(path, common, results) && exit_code == kExitOk) exit_code = kExitFound;
        continue;
      }
      const report::Verification found = report::verify_file(path, verify_options);
      if (!found.findings.empty() && exit_code == kExitOk) exit_code = kExitFound;
      if (common.json) {
        results.push_back(report::of_verification(path, found));
      } else if (!found.findings.empty() || !common.quiet) {
        print_verification(path, found);
      }
    } catch (const Error& error) {
      exit_code = kExitError;
      if (common.json) {
        json::Value result = report::of_error(error);
        result.set("file", path);
        result.set("findings", json::Array());
        results.push_back(std::move(result));
      } else {
        report_error(error, common);
      }
    }
  }
  if (common.json) print_json(results.size() == 1 ? std::move(results[0]) : json::Value(std::move(results)));
  return exit_code;
}

}  // namespace

Command verify_command() {
  auto options = std::make_shared<VerifyCommandOptions>();
  return {"verify",
          "Report everything that is wrong with exported programs and TorchScript; exit code 0 only if "
          "nothing is",
          {
              Option("FILE", ".pt2 files, the JSON of programs, or TorchScript modules; - is standard input",
                     &options->files)
                  .required()
                  .takes(Takes::kInput),
              Option("--dialect",
                     "Which operators are allowed: what the program says of itself (auto), everything "
                     "(training), functional ones (aten), the core set (core), core with tensors only (edge)",
                     &options->dialect)
                  .one_of({"auto", "training", "aten", "core", "edge"})
                  .shows_default(),
              Option("-n,--limit", "Findings per program", &options->limit).shows_default(),
          },
          {{"verify model.pt2", "is everything in it as it must be"},
           {"verify --dialect core model.pt2", "and nothing but core operators"},
           {"verify --json *.pt2", "for scripts"}},
          [options](const CommonOptions& common) { return run_verify(*options, common); }};
}

}  // namespace flambeau::cli
