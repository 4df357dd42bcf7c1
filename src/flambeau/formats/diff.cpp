#include "flambeau/formats/diff.h"

#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/tensor_pieces.h"
#include "flambeau/graph/report/compare.h"

namespace flambeau {
namespace {

// Opened once: a pipe cannot be read twice.
struct OpenedFile {
  explicit OpenedFile(const std::string& path)
      : mapping(open_model_file(weights_file_of(path))),
        file(with_location("file", path, [&] { return recognize_file(mapping); })) {}

  std::shared_ptr<Mapping> mapping;
  RecognizedFile file;
};

class TensorDiffer {
 public:
  TensorDiffer(const DiffOptions& options, Progress& progress, FileDifferences& found)
      : options_(options), progress_(progress), found_(found) {}

  void run(const Checkpoint& a, const Checkpoint& b) {
    std::unordered_map<std::string_view, const Tensor*> in_b;
    for (const CheckpointTensor& entry : b.tensors()) {
      if (name_matches(entry.name, options_.patterns)) in_b.emplace(entry.name, &entry.tensor);
    }
    uint64_t total = 0;
    for (const CheckpointTensor& entry : a.tensors()) total += entry.tensor.byte_count();
    progress_.begin("comparing", total);
    ExpansionBudget a_budget(a.tensors());
    ExpansionBudget b_budget(b.tensors());
    for (const CheckpointTensor& entry : a.tensors()) {
      if (!name_matches(entry.name, options_.patterns)) continue;
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
        if (name_matches(name, options_.patterns)) add(name, "not compared", reason);
      }
    }
    if (!options_.patterns.empty() && found_.tensors.empty() && found_.equal_tensors == 0) {
      throw Error(ErrorCode::kNotFound, "the filter matches no tensor of either file",
                  pattern_remedy(options_.patterns, a));
    }
  }

 private:
  void add(const std::string& name, std::string status, std::string detail) {
    found_.tensors.push_back({name, std::move(status), std::move(detail)});
  }

  void compare_tensors(const std::string& name, const Tensor& a, const Tensor& b) {
    if (a.sizes() != b.sizes() || a.layout() != b.layout())
      return add(name, "shape", fmt::format("{} and {}", a.summary(), b.summary()));
    if (a.dtype() != b.dtype() && !options_.ignore_dtype)
      return add(name, "type", fmt::format("{} and {}", a.summary(), b.summary()));
    const Difference difference = compare(for_one_pass(a), for_one_pass(b));
    const bool is_close = difference.max_abs <= options_.tolerance && options_.tolerance > 0;
    if (difference.differing == 0 || is_close) {
      ++found_.equal_tensors;
      return;
    }
    add(name, "values",
        fmt::format("{} of {} differ, by at most {:.3g} (relative {:.3g})", difference.differing,
                    a.element_count(), difference.max_abs, difference.max_rel));
    found_.tensors.back().values = difference;
    found_.tensors.back().elements = a.element_count();
  }

  const DiffOptions& options_;
  Progress& progress_;
  FileDifferences& found_;
};

bool has_weights(const pt2::Package& package) {
  for (const pt2::Model& model : package.models) {
    if (!model.program.has_weights) return false;
  }
  return true;
}

const pt2::Model* find_model(const pt2::Package& package, const std::string& name) {
  for (const pt2::Model& model : package.models) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

ProgramDifferences diff_programs(const pt2::Package& first, const pt2::Package& second) {
  ProgramDifferences found;
  // Single programs are compared whatever they are called.
  const bool is_pair = first.models.size() == 1 && second.models.size() == 1;
  for (const pt2::Model& model : first.models) {
    const pt2::Model* const other = is_pair ? &second.models[0] : find_model(second, model.name);
    if (other == nullptr) {
      found.rows.push_back({"program", model.name, "only in the first", ""});
      continue;
    }
    const graph::ProgramComparison comparison = compare_programs(model.program, other->program);
    found.equal_nodes += comparison.equal_nodes;
    found.follows += comparison.follows;
    for (const graph::ProgramDifference& each : comparison.differences)
      found.rows.push_back({each.part, each.name, each.status, each.detail});
  }
  for (const pt2::Model& model : second.models) {
    if (!is_pair && find_model(first, model.name) == nullptr)
      found.rows.push_back({"program", model.name, "only in the second", ""});
  }
  return found;
}

}  // namespace

FileDifferences diff_files(const std::string& a, const std::string& b, const DiffOptions& options,
                           Progress& progress) {
  const OpenedFile first(a), second(b);
  FileDifferences found;
  bool compares_weights = true;
  if (is_program_kind(first.file.kind) && is_program_kind(second.file.kind)) {
    const pt2::Package one = pt2::load_package(first.file, first.mapping);
    const pt2::Package other = pt2::load_package(second.file, second.mapping);
    found.program = diff_programs(one, other);
    compares_weights = has_weights(one) && has_weights(other);
  }
  if (compares_weights) {
    TensorDiffer(options, progress, found)
        .run(load_checkpoint(first.file, first.mapping), load_checkpoint(second.file, second.mapping));
  }
  return found;
}

}  // namespace flambeau
