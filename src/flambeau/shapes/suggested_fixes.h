// The fixes that an error about dynamic shapes suggests: for each Dim the definition with which the same
// trace passes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/shapes/dim.h"
#include "flambeau/shapes/dim_solver.h"

namespace flambeau::trace {

struct SuggestedFix {
  std::string name;
  // One of: a constant, an expression over another Dim ("2*a"), or a Dim with these bounds.
  std::optional<int64_t> constant = {};
  std::string expression = {};
  Bounds bounds = {};

  // "a = 4", "b = 2*a", "a = Dim('a', min=3)".
  std::string to_string() const;
};

// The Dim as the fixes define it. `roots`: what was given, by name, for those that no fix mentions.
Dim apply_fixes(const Dim& dim, const std::vector<SuggestedFix>& fixes,
                const std::map<std::string, Dim>& roots);

// `names`: of sources, the name of the Dim they were given. `dims`: what was given, by name, with the roots
// of derived ones. Dims with bounds first, then the rest, both in the order of their sources.
std::vector<SuggestedFix> suggested_fixes(const DimSolver& solver,
                                          const std::map<std::string, std::string>& names,
                                          std::map<std::string, Dim> dims,
                                          const std::map<std::string, std::string>& source_of_symbol);

}  // namespace flambeau::trace
