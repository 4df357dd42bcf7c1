// How PyTorch names the lines of a printed graph: unique identifiers that shadow nothing of Python.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/graph/target.h"

namespace flambeau::graph {

// A letter or underscore, then letters, digits, underscores: ASCII only.
bool is_identifier(std::string_view text);
// Keywords and builtins of Python, and the few names that every printed graph brings along.
bool is_taken_by_python(std::string_view name);
bool is_python_keyword(std::string_view name);

// Gives out names, each once.
class TextNamespace {
 public:
  // `candidate` made an identifier, or else the first free of `candidate_1`, `candidate_2`...
  std::string create(std::string_view candidate);
  // A name that is nobody else's from now on.
  void reserve(std::string_view name) { used_.emplace(name); }
  bool is_used(const std::string& name) const { return used_.contains(name); }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, size_t> last_number_;
};

// What PyTorch calls a node of that target when nobody named it: "add_tensor" for
// "torch.ops.aten.add.Tensor".
std::string name_for_target(const Target& target);

}  // namespace flambeau::graph
