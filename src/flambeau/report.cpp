#include "flambeau/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/nearest.h"
#include "flambeau/base/utf8.h"
#include "flambeau/formats/diff.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/safety/safety.h"

namespace flambeau::report {
namespace {

// Bytes that are no UTF-8, of names of files, as Python's surrogateescape has them: 0xff becomes U+DCFF.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    if (length != 0) {
      out += text.substr(0, length);
    } else {
      const auto byte = static_cast<unsigned char>(text[0]);
      const unsigned point = 0xDC00U + byte;
      out += {static_cast<char>(0xED), static_cast<char>(0x80 | (point >> 6 & 0x3F)),
              static_cast<char>(0x80 | (point & 0x3F))};
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string text_json(const std::string& text) {
  return is_valid_utf8_with_surrogates(text) ? text : escaped(text);
}

json::Value finding_value(const graph::Finding& finding) {
  json::Value value;
  value.set("rule", finding.rule);
  value.set("where", finding.where);
  value.set("message", finding.message);
  value.set("remedy", finding.remedy);
  return value;
}

json::Value tensor_difference_value(const TensorDifference& difference) {
  json::Value entry;
  entry.set("name", difference.name);
  entry.set("status", difference.status);
  entry.set("detail", difference.detail);
  if (!difference.values) return entry;
  json::Value facts;
  facts.set("differing", difference.values->differing);
  facts.set("elements", difference.elements);
  facts.set("max_abs", difference.values->max_abs);
  facts.set("max_rel", difference.values->max_rel);
  entry.set("facts", std::move(facts));
  return entry;
}

json::Value program_differences_value(const ProgramDifferences& found) {
  json::Value program;
  program.set("nodes_equal", static_cast<uint64_t>(found.equal_nodes));
  program.set("nodes_following", static_cast<uint64_t>(found.follows));
  json::Array parts;
  for (const ProgramDifferences::Row& row : found.rows) {
    json::Value entry;
    entry.set("part", row.part);
    entry.set("name", row.name);
    entry.set("status", row.status);
    entry.set("detail", row.detail);
    parts.push_back(std::move(entry));
  }
  program.set("differences", std::move(parts));
  return program;
}

}  // namespace

json::Value strict(const json::Value& value) {
  if (value.is_double() && !std::isfinite(value.as_double())) return fmt::format("{}", value.as_double());
  if (value.is_string()) return text_json(value.as_string());
  if (value.is_array()) {
    json::Array items;
    for (const json::Value& item : value.as_array()) items.push_back(strict(item));
    return items;
  }
  if (!value.is_object()) return value;
  json::Object members;
  for (const auto& [key, member] : value.as_object()) members.emplace_back(text_json(key), strict(member));
  return members;
}

json::Value of_error(const Error& error) {
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

std::string_view verdict_of(const SafetyReport& report) {
  if (report.is_harmless()) return "harmless";
  // The worst come first.
  const Finding& worst = report.findings.front();
  if (worst.severity == Severity::kDanger) return "dangerous";
  return worst.topic == "code" ? "runs code when used" : "not known to be harmless";
}

json::Value of_safety(const std::string& path, const SafetyReport& report) {
  json::Value value;
  value.set("file", path);
  value.set("kind", file_kind_info(report.kind).name);
  value.set("harmless", report.is_harmless());
  value.set("verdict", verdict_of(report));
  value.set("records_verified", static_cast<uint64_t>(report.records_verified));
  value.set("pickles_read", static_cast<uint64_t>(report.pickles_read));
  json::Array openings;
  for (size_t i = 0; i < kOpenings; ++i) {
    json::Value entry;
    entry.set("call", opening_name(static_cast<Opening>(i)));
    entry.set("verdict", outcome_name(report.openings[i].outcome));
    entry.set("remedy", report.openings[i].remedy);
    openings.push_back(std::move(entry));
  }
  value.set("openings", std::move(openings));
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

json::Value of_differences(const FileDifferences& found) {
  json::Value value;
  value.set("equal", found.is_equal());
  value.set("tensors_equal", static_cast<uint64_t>(found.equal_tensors));
  json::Array rows;
  for (const TensorDifference& row : found.tensors) rows.push_back(tensor_difference_value(row));
  value.set("differences", std::move(rows));
  if (found.program) value.set("program", program_differences_value(*found.program));
  return value;
}

graph::Dialect dialect_from_name(std::string_view name) {
  static const std::vector<std::string> kNames = {"auto", "training", "aten", "core", "edge"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<graph::Dialect>(i);
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("there is no dialect '{}'", printable(name)),
              did_you_mean(name, kNames, fmt::format("there are {}", fmt::join(kNames, ", "))));
}

Verification verify_file(const std::string& path, const graph::VerifyOptions& options) {
  pt2::Package package = pt2::load_package(path);
  if (package.models.empty())
    throw Error(ErrorCode::kNotFound, "the archive has no exported program").add_location("file", path);
  Verification result;
  result.programs = package.models.size();
  for (const pt2::Model& model : package.models) {
    result.nodes += model.program.graph().node_count();
    result.has_weights = result.has_weights && model.program.has_weights;
    for (graph::Finding& finding : verify(model.program, options))
      result.findings.push_back({model.name, std::move(finding)});
  }
  result.notes = std::move(package.notes);
  return result;
}

json::Value of_verification(const std::string& path, const Verification& verification) {
  json::Value value;
  value.set("file", path);
  value.set("valid", verification.findings.empty());
  value.set("notes", json::Array(verification.notes.begin(), verification.notes.end()));
  json::Array findings;
  for (const Verification::Entry& entry : verification.findings) {
    findings.push_back(finding_value(entry.finding));
    if (verification.programs > 1) findings.back().set("program", entry.program);
  }
  value.set("findings", std::move(findings));
  return value;
}

}  // namespace flambeau::report
