#include "reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "terminal.h"

namespace flambeau::cli {

void print_json(const json::Value& value) { std::puts(json::dump(value, 2).c_str()); }

json::Value error_json(const Error& error) {
  json::Value details;
  details.set("code", error_code_name(error.code()));
  details.set("message", error.message());
  details.set("remedy", error.remedy());
  json::Array locations;
  for (const Location& location : error.locations()) {
    json::Value entry;
    entry.set("kind", location.kind);
    entry.set("value", location.value);
    locations.push_back(std::move(entry));
  }
  details.set("locations", std::move(locations));
  details.set("text", error.what());
  json::Value value;
  value.set("error", std::move(details));
  return value;
}

void report_error(const Error& error, const CommonOptions& common) {
  if (common.json) {
    print_json(error_json(error));
    return;
  }
  const bool has_color = use_color(STDERR_FILENO);
  print_to_stderr("{}flambeau:{} {}\n", has_color ? "\x1b[31m" : "", has_color ? "\x1b[0m" : "",
                  error.what());
}

json::Value records_json(const std::vector<RecordInfo>& records) {
  json::Array result;
  for (const RecordInfo& record : records) {
    json::Value entry;
    entry.set("name", record.name);
    entry.set("role", record_role_name(record.role));
    entry.set("bytes", record.size);
    entry.set("compressed_bytes", record.compressed_size);
    entry.set("compressed", record.is_compressed);
    entry.set("crc32", fmt::format("{:08x}", record.crc32));
    result.push_back(std::move(entry));
  }
  return result;
}

void print_records(const std::vector<RecordInfo>& records, size_t limit) {
  Table table({"bytes", "role", "record"});
  table.align_right(0);
  size_t shown = 0;
  for (const RecordInfo& record : records) {
    if (limit != 0 && shown == limit) break;
    ++shown;
    const std::string packed =
        record.is_compressed ? fmt::format(" (compressed to {})", human_bytes(record.compressed_size)) : "";
    table.add({std::to_string(record.size), std::string(record_role_name(record.role)),
               printable(record.name) + packed});
  }
  table.print(2);
  if (shown < records.size()) fmt::print("  ... and {} more (--limit 0 shows all)\n", records.size() - shown);
}

namespace {

// Statistics of what has numbers to show; nothing for meta tensors and types without an order.
std::optional<Statistics> try_statistics(const Tensor& tensor, ThreadPool& pool) {
  if (tensor.is_meta() || tensor.element_count() == 0) return std::nullopt;
  try {
    return statistics(tensor, &pool);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) return std::nullopt;
    throw;
  }
}

json::Value number_json(const std::optional<Number>& number) {
  if (!number) return {};
  return std::visit(
      [](auto value) {
        using Type = decltype(value);
        if constexpr (std::is_integral_v<Type>) {
          return json::Value(value);
        } else {
          return json::Value(static_cast<double>(value));
        }
      },
      *number);
}

std::string number_text(const std::optional<Number>& number) { return number ? to_text(*number) : "-"; }

}  // namespace

json::Value statistics_json(const Tensor& tensor, ThreadPool& pool) {
  const std::optional<Statistics> found = try_statistics(tensor, pool);
  if (!found) return {};
  json::Value value;
  value.set("min", number_json(found->min));
  value.set("max", number_json(found->max));
  value.set("mean", found->mean ? json::Value(*found->mean) : json::Value());
  value.set("nan", found->nan_count);
  value.set("inf", found->inf_count);
  return value;
}

std::vector<std::string> statistics_cells(const Tensor& tensor, ThreadPool& pool) {
  const std::optional<Statistics> found = try_statistics(tensor, pool);
  if (!found) return {"-", "-", "-", "-"};
  return {number_text(found->min), number_text(found->max),
          found->mean ? fmt::format("{:.6g}", *found->mean) : "-", std::to_string(found->nan_count)};
}

}  // namespace flambeau::cli
