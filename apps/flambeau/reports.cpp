#include "reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "flambeau/report.h"
#include "flambeau/script.h"
#include "terminal.h"

namespace flambeau::cli {

void print_json(const json::Value& value) { std::puts(json::dump(report::strict(value), 2).c_str()); }

void report_error(const Error& error, const CommonOptions& common) {
  if (common.json) {
    print_json(report::of_error(error));
    return;
  }
  const bool has_color = use_color(STDERR_FILENO);
  const auto print = [&](std::string_view text) {
    print_to_stderr("{}flambeau:{} {}\n", has_color ? "\x1b[31m" : "", has_color ? "\x1b[0m" : "", text);
  };
  if (script::frames_of(error).empty()) return print(error.what());
  // Of a script: every call that led there, then what went wrong.
  write_to_stderr(script::traceback_text(error));
  std::string file;
  for (const Location& location : error.locations()) {
    if (file.empty() && location.kind == "file") file = location.value + ": ";
  }
  print(file + error.message() + (error.remedy().empty() ? "" : fmt::format(" ({})", error.remedy())));
}

void print_records(const std::vector<RecordInfo>& records, size_t limit,
                   const std::vector<std::string>& digests) {
  std::vector<std::string> header = {"bytes", "role"};
  if (!digests.empty()) header.emplace_back("sha256");
  header.emplace_back("record");
  Table table(std::move(header));
  table.align_right(0);
  size_t shown = 0;
  for (const RecordInfo& record : records) {
    if (limit != 0 && shown == limit) break;
    ++shown;
    const std::string packed =
        record.is_compressed ? fmt::format(" (compressed to {})", human_bytes(record.compressed_size)) : "";
    std::vector<std::string> row = {std::to_string(record.size), std::string(record_role_name(record.role))};
    if (!digests.empty()) row.push_back(digests[shown - 1]);
    row.push_back(printable(record.name) + packed);
    table.add(std::move(row));
  }
  table.print(2);
  if (shown < records.size()) fmt::print("  ... and {} more (--limit 0 shows all)\n", records.size() - shown);
}

namespace {

std::string number_text(const std::optional<Number>& number) { return number ? to_text(*number) : "-"; }

}  // namespace

std::vector<std::string> statistics_cells(const Tensor& tensor, ThreadPool& pool) {
  const std::optional<Statistics> found = report::statistics_of(tensor, pool);
  if (!found) return {"-", "-", "-", "-"};
  return {number_text(found->min), number_text(found->max),
          found->mean ? fmt::format("{:.6g}", *found->mean) : "-", std::to_string(found->nan_count)};
}

}  // namespace flambeau::cli
