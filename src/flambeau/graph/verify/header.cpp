// What stands around the graph: ranges of symbols, guards, versions, verifiers, metadata.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

void check_ranges(Context& context) {
  std::unordered_set<std::string_view> seen;
  for (const auto& [symbol, range] : context.program.range_constraints) {
    const std::string where = fmt::format("range constraint '{}'", printable(symbol));
    if (!seen.insert(symbol).second)
      context.add("range-constraint", where, "there are two of that name", "remove one of them");
    const Expression expression = read_expression(symbol);
    if (!expression.problem.empty()) {
      context.add("range-constraint", where,
                  fmt::format("its name is no symbol or expression: {}", expression.problem),
                  "the file is damaged or its writer is wrong: export the program again");
    }
    if (range.min && range.max && *range.min > *range.max) {
      context.add("range-constraint", where,
                  fmt::format("the least value, {}, is above the greatest, {}", *range.min, *range.max),
                  "no input can fulfil it: export the program again with other dynamic shapes");
    }
  }
}

void check_versions(Context& context) {
  const ExportedProgram& program = context.program;
  const SchemaVersion& version = program.schema_version;
  if (version.minor < 0 ||
      (version.major != kCurrentSchema.major && !(version.major == 0 && version.minor == 0))) {
    context.add(
        "schema-version", "program",
        fmt::format("its schema is {}.{}; expected {}.x", version.major, version.minor, kCurrentSchema.major),
        "convert it to the current schema");
  }
  const auto aten = std::ranges::find(program.opset_version, "aten",
                                      [](const auto& entry) { return std::string_view(entry.first); });
  if (aten == program.opset_version.end()) {
    context.add("opset-version", "program",
                "it does not say which version of the operator set 'aten' it uses",
                "add it: PyTorch 2.13 has 10");
  } else if (aten->second < 1) {
    context.add("opset-version", "program",
                fmt::format("the version of the operator set 'aten' is {}; expected 1 or more", aten->second),
                "PyTorch 2.13 has 10");
  }
  for (const std::string& name : program.verifiers) {
    if (name.empty() || name == "ATEN" || name == "TRAINING" || name == "EDGE" || name == "OLD_EXIR_ATEN")
      continue;
    context.add("unknown-verifier", "program",
                fmt::format("'{}' is no verifier of PyTorch; it has ATEN and TRAINING", printable(name)),
                "export the program again");
  }
}

}  // namespace

void verify_header(Context& context) {
  const ExportedProgram& program = context.program;
  check_ranges(context);
  check_versions(context);
  for (size_t i = 0; i < program.guards_code.size(); ++i) {
    if (program.guards_code[i].find_first_not_of(" \t\n") == std::string::npos)
      context.add("guard", fmt::format("guard {}", i), "it is empty", "remove it");
    else if (const Expression guard = read_guard(program.guards_code[i]); !guard.problem.empty())
      context.add("unsafe-guard", fmt::format("guard {}", i),
                  fmt::format("'{}' is no condition on sizes, and PyTorch would run it as code: {}",
                              printable(program.guards_code[i], 200), guard.problem),
                  "do not load this file");
  }
  for (const auto& [key, text] : program.metadata) {
    if (key != "custom" || text.empty()) continue;
    try {
      json::parse(text);
    } catch (const Error& error) {
      context.add("program-metadata", "program",
                  fmt::format("its custom metadata is no JSON: {}", error.message()), "remove the entry");
    }
  }
}

}  // namespace flambeau::graph::verifying
