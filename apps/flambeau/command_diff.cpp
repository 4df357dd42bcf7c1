// flambeau diff: the weights of two files, tensor by tensor.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/tensor.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct Row {
  std::string name;
  std::string status;  // "only in the first", "only in the second", "type", "shape", "values", "not compared"
  std::string detail;
  json::Value facts;
};

class Differ {
 public:
  Differ(const DiffOptions& options, Progress& progress) : options_(options), progress_(progress) {}

  void run(const Checkpoint& a, const Checkpoint& b) {
    std::unordered_map<std::string_view, const Tensor*> in_b;
    for (const CheckpointTensor& entry : b.tensors()) {
      if (name_matches(entry.name, options_.filters)) in_b.emplace(entry.name, &entry.tensor);
    }
    uint64_t total = 0;
    for (const CheckpointTensor& entry : a.tensors()) total += entry.tensor.byte_count();
    progress_.begin("comparing", total);
    ExpansionBudget a_budget(a.tensors());
    ExpansionBudget b_budget(b.tensors());
    for (const CheckpointTensor& entry : a.tensors()) {
      if (!name_matches(entry.name, options_.filters)) continue;
      const auto found = in_b.find(entry.name);
      if (found == in_b.end()) {
        add(entry.name, "only in the first", entry.tensor.summary());
      } else {
        with_location("tensor", entry.name, [&] {
          a_budget.spend(entry.tensor);
          b_budget.spend(*found->second);
          compare_tensors(entry.name, entry.tensor, *found->second);
        });
        in_b.erase(found);
      }
      advance_or_cancel(progress_, entry.tensor.byte_count());
    }
    for (const CheckpointTensor& entry : b.tensors()) {
      if (in_b.contains(entry.name)) add(entry.name, "only in the second", entry.tensor.summary());
    }
    for (const Checkpoint* side : {&a, &b}) {
      for (const auto& [name, reason] : side->skipped()) {
        if (name_matches(name, options_.filters)) add(name, "not compared", reason);
      }
    }
    if (!options_.filters.empty() && rows_.empty() && equal_ == 0) {
      throw Error(ErrorCode::kNotFound, "the filter matches no tensor of either file",
                  "'flambeau inspect' shows the names");
    }
  }

  const std::vector<Row>& rows() const { return rows_; }
  size_t equal() const { return equal_; }

 private:
  void add(const std::string& name, std::string status, std::string detail, json::Value facts = {}) {
    rows_.push_back({name, std::move(status), std::move(detail), std::move(facts)});
  }

  void compare_tensors(const std::string& name, const Tensor& a, const Tensor& b) {
    if (a.sizes() != b.sizes() || a.layout() != b.layout()) {
      return add(name, "shape", fmt::format("{} and {}", a.summary(), b.summary()));
    }
    if (a.dtype() != b.dtype() && !options_.ignore_dtype) {
      return add(name, "type", fmt::format("{} and {}", a.summary(), b.summary()));
    }
    const Difference difference = compare(a, b);
    const bool is_close = difference.max_abs <= options_.tolerance && options_.tolerance > 0;
    if (difference.differing == 0 || is_close) {
      ++equal_;
      return;
    }
    json::Value facts;
    facts.set("differing", difference.differing);
    facts.set("elements", a.element_count());
    facts.set("max_abs", difference.max_abs);
    facts.set("max_rel", difference.max_rel);
    add(name, "values",
        fmt::format("{} of {} differ, by at most {:.3g} (relative {:.3g})", difference.differing,
                    a.element_count(), difference.max_abs, difference.max_rel),
        std::move(facts));
  }

  const DiffOptions& options_;
  Progress& progress_;
  std::vector<Row> rows_;
  size_t equal_ = 0;
};

}  // namespace

int run_diff(const DiffOptions& options, const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  const bool is_programs = is_program_file(options.a) && is_program_file(options.b);
  DiffRows structure;
  if (is_programs) structure = diff_structure(options.a, options.b);
  Differ differ(options, progress);
  if (!is_programs || structure.has_weights)
    differ.run(load_checkpoint(options.a), load_checkpoint(options.b));
  const bool is_equal = differ.rows().empty() && structure.rows.empty();
  if (common.json) {
    json::Value value;
    value.set("equal", is_equal);
    value.set("tensors_equal", static_cast<uint64_t>(differ.equal()));
    json::Array rows;
    for (const Row& row : differ.rows()) {
      json::Value entry;
      entry.set("name", row.name);
      entry.set("status", row.status);
      entry.set("detail", row.detail);
      if (!row.facts.is_null()) entry.set("facts", row.facts);
      rows.push_back(std::move(entry));
    }
    value.set("differences", std::move(rows));
    if (is_programs) {
      json::Value program;
      program.set("nodes_equal", static_cast<uint64_t>(structure.equal_nodes));
      program.set("nodes_following", static_cast<uint64_t>(structure.follows));
      json::Array parts;
      for (const DiffRow& row : structure.rows) {
        json::Value entry;
        entry.set("part", row.part);
        entry.set("name", row.name);
        entry.set("status", row.status);
        entry.set("detail", row.detail);
        parts.push_back(std::move(entry));
      }
      program.set("differences", std::move(parts));
      value.set("program", std::move(program));
    }
    print_json(value);
  } else if (!common.quiet) {
    if (is_programs) {
      Table table({"part", "name", "difference", ""});
      for (const DiffRow& row : structure.rows)
        table.add({row.part, printable(row.name), row.status, row.detail});
      if (!table.empty()) table.print();
      fmt::print("{} equal, {} different", counted(structure.equal_nodes, "node"), structure.rows.size());
      if (structure.follows != 0) fmt::print(", and {} after them", counted(structure.follows, "node"));
      fmt::print("\n");
    }
    Table table({"tensor", "difference", ""});
    for (const Row& row : differ.rows()) table.add({printable(row.name), row.status, row.detail});
    if (!table.empty()) table.print();
    fmt::print("{} equal, {} different\n", counted(differ.equal(), "tensor"), differ.rows().size());
  }
  return is_equal ? kExitOk : kExitFound;
}

}  // namespace flambeau::cli
