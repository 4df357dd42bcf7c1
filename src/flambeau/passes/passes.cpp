#include "flambeau/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/program.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::passes {
namespace {

constexpr NamedPass kPasses[] = {
    {"equal-sizes", merge_equal_sizes, "ask for equal sizes once"},
    {"equal-nodes", merge_equal_nodes, "compute equal things once"},
    {"fold-constants", fold_constants, "compute what depends on constants alone"},
    {"dead-nodes", remove_dead_nodes, "remove what nobody uses"},
};

}  // namespace

std::span<const NamedPass> all_passes() { return kPasses; }

const NamedPass& find_pass(std::string_view name) {
  const auto found = std::ranges::find(kPasses, name, &NamedPass::name);
  if (found != std::end(kPasses)) return *found;
  std::string names;
  for (const NamedPass& pass : kPasses) names += fmt::format("{}{}", names.empty() ? "" : ", ", pass.name);
  throw Error(ErrorCode::kNotFound, fmt::format("there is no pass '{}'", printable(name)),
              "the passes are: " + names);
}

bool simplify(graph::ExportedProgram& program, const ops::Library& library) {
  bool has_changed = false;
  for (bool is_changing = true; is_changing;) {
    is_changing = false;
    for (const NamedPass& pass : kPasses) is_changing = pass.run(program, library) || is_changing;
    has_changed = has_changed || is_changing;
  }
  return has_changed;
}

}  // namespace flambeau::passes
