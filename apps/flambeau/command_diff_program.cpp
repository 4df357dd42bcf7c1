// flambeau diff of two exported programs: what they compute, then their weights.
#include <fmt/format.h>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/program.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {

DiffRows diff_structure(const std::shared_ptr<Mapping>& a, const std::shared_ptr<Mapping>& b) {
  pt2::Package first = pt2::read_package(a);
  pt2::Package second = pt2::read_package(b);
  DiffRows rows;
  rows.has_weights = true;
  for (const pt2::Package* side : {&first, &second}) {
    for (const pt2::Model& model : side->models)
      rows.has_weights = rows.has_weights && model.program.has_weights;
  }
  for (const pt2::Model& model : first.models) {
    const pt2::Model* other = nullptr;
    for (const pt2::Model& each : second.models) {
      if (each.name == model.name || (first.models.size() == 1 && second.models.size() == 1)) other = &each;
    }
    if (other == nullptr) {
      rows.rows.push_back({"program", model.name, "only in the first", ""});
      continue;
    }
    const graph::ProgramComparison comparison = compare_programs(model.program, other->program);
    rows.equal_nodes += comparison.equal_nodes;
    rows.follows += comparison.follows;
    for (const graph::ProgramDifference& each : comparison.differences) {
      rows.rows.push_back({each.part, each.name, each.status, each.detail});
    }
  }
  for (const pt2::Model& model : second.models) {
    bool is_there = first.models.size() == 1 && second.models.size() == 1;
    for (const pt2::Model& each : first.models) is_there = is_there || each.name == model.name;
    if (!is_there) rows.rows.push_back({"program", model.name, "only in the second", ""});
  }
  return rows;
}

}  // namespace flambeau::cli
