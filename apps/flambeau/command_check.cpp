// flambeau check: is this file from a stranger safe to open?
#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "flambeau/check.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

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

std::string_view verdict_of(const SafetyReport& report) {
  if (report.is_harmless()) return "harmless";
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::kDanger) return "dangerous";
  }
  return "runs code when used";
}

json::Value report_json(const std::string& path, const SafetyReport& report) {
  json::Value value;
  value.set("file", path);
  value.set("kind", file_kind_info(report.kind).name);
  value.set("harmless", report.is_harmless());
  value.set("verdict", verdict_of(report));
  value.set("records_verified", static_cast<uint64_t>(report.records_verified));
  value.set("pickles_read", static_cast<uint64_t>(report.pickles_read));
  json::Array findings;
  for (const Finding& finding : report.findings) {
    json::Value entry;
    entry.set("severity", severity_name(finding.severity));
    entry.set("topic", finding.topic);
    entry.set("record", finding.record);
    entry.set("message", finding.message);
    findings.push_back(std::move(entry));
  }
  value.set("findings", std::move(findings));
  return value;
}

void print_report(const std::string& path, const SafetyReport& report) {
  const Style style = report.is_harmless()                ? Style::kGreen
                      : verdict_of(report) == "dangerous" ? Style::kRed
                                                          : Style::kYellow;
  fmt::print("{}: {} ({})\n", styled(printable(path, 400), Style::kBold), styled(verdict_of(report), style),
             file_kind_info(report.kind).description);
  for (const Finding& finding : report.findings) {
    const std::string place =
        finding.record.empty() ? "" : fmt::format(" in '{}'", printable(finding.record));
    fmt::print("  {} {}{}: {}\n", styled(severity_name(finding.severity), style_of(finding.severity)),
               finding.topic, place, finding.message);
  }
  if (report.records_verified > 0 || report.pickles_read > 0) {
    fmt::print("  {} verified, {} read, nothing was run\n", counted(report.records_verified, "record"),
               counted(report.pickles_read, "pickle"));
  }
}

}  // namespace

int run_check(const CheckOptions& options, const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  json::Array results;
  int exit_code = kExitOk;
  for (const std::string& path : options.files) {
    try {
      const SafetyReport report = check_safety(Mapping::open(path), progress);
      if (!report.is_harmless() && exit_code == kExitOk) exit_code = kExitFound;
      if (common.json) {
        results.push_back(report_json(path, report));
      } else if (!common.quiet || !report.is_harmless()) {
        print_report(path, report);
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      exit_code = kExitError;
      if (common.json) {
        results.push_back(error_json(error));
      } else {
        report_error(error, common);
      }
    }
  }
  if (common.json)
    print_json(options.files.size() == 1 ? std::move(results[0]) : json::Value(std::move(results)));
  return exit_code;
}

}  // namespace flambeau::cli
