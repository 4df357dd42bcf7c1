// How two files differ: exported programs by what they compute, then weights, tensor by tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/base/progress.h"
#include "flambeau/tensor/elements/compare.h"

namespace flambeau {

struct DiffOptions {
  std::vector<std::string> patterns;  // as name_matches() takes them; empty: all tensors
  double tolerance = 0;               // values count as equal up to this absolute difference
  bool ignore_dtype = false;          // by value where the types differ
};

struct TensorDifference {
  std::string name;
  std::string status;  // "only in the first", "only in the second", "type", "shape", "values", "not compared"
  std::string detail;
  std::optional<Difference> values = {};
  int64_t elements = 0;
};

struct ProgramDifferences {
  struct Row {
    std::string part;
    std::string name;
    std::string status;
    std::string detail;
  };
  std::vector<Row> rows;
  size_t equal_nodes = 0;
  size_t follows = 0;  // nodes that differ because an operand does
};

struct FileDifferences {
  std::vector<TensorDifference> tensors;
  size_t equal_tensors = 0;
  std::optional<ProgramDifferences> program;  // where both files hold programs

  bool is_equal() const { return tensors.empty() && (!program || program->rows.empty()); }
};

// Files of any kinds with weights, folders of shards too. Throws Error(kNotFound) when the patterns match no
// tensor of either, and what opening the files throws.
FileDifferences diff_files(const std::string& a, const std::string& b, const DiffOptions& options = {},
                           Progress& progress = Progress::silent());

}  // namespace flambeau
