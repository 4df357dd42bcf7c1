#include "flambeau/graph/verify/verify.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph {

std::string Finding::to_string() const {
  return fmt::format("{}: {} [{}]{}", where, message, rule,
                     remedy.empty() ? "" : fmt::format(" ({})", remedy));
}

std::vector<Finding> verify(const ExportedProgram& program, const VerifyOptions& options) {
  const SchemaTable builtin;
  verifying::Context context(program, options, options.schemas != nullptr ? *options.schemas : builtin);
  verifying::verify_header(context);
  verifying::verify_names(context);
  verifying::verify_signature(context);
  verifying::verify_weights(context);
  verifying::verify_module_calls(context);
  verifying::verify_graphs(context);
  return context.take_findings();
}

void require_valid(const ExportedProgram& program, const VerifyOptions& options) {
  const std::vector<Finding> findings = verify(program, options);
  if (findings.empty()) return;
  const Finding& first = findings[0];
  std::string more;
  if (findings.size() > 1) {
    const bool is_cut = findings.back().rule == "more-findings";
    more = fmt::format("; and {}{} more", findings.size() - (is_cut ? 2 : 1), is_cut ? " or" : "");
  }
  throw Error(
      ErrorCode::kCorrupt,
      fmt::format("the program is not valid: {}: {} [{}]{}", first.where, first.message, first.rule, more),
      "run 'flambeau verify' for all of it");
}

}  // namespace flambeau::graph
