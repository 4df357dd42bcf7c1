// flambeau check: is this file from a stranger safe to open?
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "flambeau/check.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/report.h"
#include "progress_bar.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
};

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return Style::kDim;
    case Severity::kCaution:
      return Style::kYellow;
    case Severity::kDanger:
      return Style::kRed;
  }
  return Style::kPlain;
}

Style style_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHarmless:
      return Style::kGreen;
    case Outcome::kRefused:
      return Style::kDim;
    case Outcome::kCaution:
      return Style::kYellow;
    case Outcome::kDangerous:
      return Style::kRed;
  }
  return Style::kPlain;
}

// What each way of opening it in PyTorch would do.
void print_openings(const SafetyReport& report) {
  for (size_t i = 0; i < kOpenings; ++i) {
    const OpeningVerdict& verdict = report.openings[i];
    fmt::print("  {}: {}{}\n", opening_name(static_cast<Opening>(i)),
               styled(outcome_name(verdict.outcome), style_of(verdict.outcome)),
               verdict.remedy.empty() ? "" : fmt::format(" ({})", verdict.remedy));
  }
}

void print_report(const std::string& path, const SafetyReport& found) {
  const Style style = found.is_harmless()                        ? Style::kGreen
                      : report::verdict_of(found) == "dangerous" ? Style::kRed
                                                                 : Style::kYellow;
  fmt::print("{}: {} ({})\n", styled(printable(path, 400), Style::kBold),
             styled(report::verdict_of(found), style), file_kind_info(found.kind).description);
  for (const Finding& finding : found.findings) {
    const std::string place =
        finding.record.empty() ? "" : fmt::format(" in '{}'", printable(finding.record));
    fmt::print("  {} {}{}: {}\n", styled(severity_name(finding.severity), style_of(finding.severity)),
               finding.topic, place, finding.message);
  }
  if (!found.is_harmless()) print_openings(found);
  if (found.records_verified > 0 || found.pickles_read > 0) {
    fmt::print("  {} verified, {} read, nothing was run\n", counted(found.records_verified, "record"),
               counted(found.pickles_read, "pickle"));
  }
}

// Code that cannot be read says nothing; that it is there was said already.
void print_script_calls(const std::string& path) {
  try {
    if (path != "-") print_script_safety(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    fmt::print("  {} code: {}\n", styled("caution", Style::kYellow), printable(error.message(), 400));
  }
}

void add_script_safety(const std::string& path, json::Value& result) {
  try {
    if (path != "-") result.set("script", script_safety_json(path));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    result.set("script", report::of_error(error));
  }
}

int run_check(const CheckOptions& options, const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  json::Array results;
  int exit_code = kExitOk;
  for (const std::string& path : options.files) {
    try {
      const bool is_folder = std::filesystem::is_directory(path);
      const SafetyReport found = is_folder ? check_folder(path, progress) : check_file(path, progress);
      if (!found.is_harmless() && exit_code == kExitOk) exit_code = kExitFound;
      if (common.json) {
        results.push_back(report::of_safety(path, found));
        if (is_script_kind(found.kind)) add_script_safety(path, results.back());
      } else if (!common.quiet || !found.is_harmless()) {
        print_report(path, found);
        if (is_script_kind(found.kind)) print_script_calls(path);
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      exit_code = kExitError;
      if (common.json) {
        results.push_back(report::of_error(error));
      } else {
        report_error(error, common);
      }
    }
  }
  if (common.json)
    print_json(options.files.size() == 1 ? std::move(results[0]) : json::Value(std::move(results)));
  return exit_code;
}

}  // namespace

Command check_command() {
  auto options = std::make_shared<CheckOptions>();
  return {"check",
          "Report whether files are safe to open; exit code 0 only if so",
          {Option("FILE", "Files or folders to check; - is standard input", &options->files)
               .required()
               .takes(Takes::kInput)},
          {{"check download.pt && echo harmless", "would opening it in Python run anything"},
           {"check --quiet *.pt", "only what is not harmless"},
           {"check llama-folder", "shards, their index and all that lies beside them"},
           {"check - < download.pt", "from standard input"}},
          [options](const CommonOptions& common) { return run_check(*options, common); }};
}

}  // namespace flambeau::cli
