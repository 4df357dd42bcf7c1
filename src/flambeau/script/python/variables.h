// Names of variables in Python: what a person called them, one name again for one value after the other.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

// Words that no variable may be called: Python's, and those that the text uses.
bool is_python_word(std::string_view name);
// "x" of "x3"; the name itself where no digits are behind it.
std::string_view without_number(std::string_view name);

// Whether nobody reads the value from that node on: a variable that holds it may get another value there.
// Only values of the node's own block are known to be dead; those of blocks that are over are. `with_node`:
// what the node itself reads is read before.
bool is_dead_at(const ir::Value* value, const ir::Node& node, bool with_node);
// The same for one that a loop carries, while the node may stand in branches of its turn.
bool is_unread_after(const ir::Value* value, const ir::Node& node);

class PythonVariables {
 public:
  // Names of the whole file, which nothing in a function may take.
  explicit PythonVariables(const std::unordered_set<std::string>& globals) : globals_(globals) {}

  // The name, or one like it that is free. Names of arguments stay what they are.
  std::string make(std::string_view wanted);
  void add_argument(const std::string& name, const ir::Value* value);
  // A name for the value that the node gives: that of a variable nobody reads any more, where it fits.
  std::string choose(std::string_view wanted, const ir::Value* value, const ir::Node& node);
  void hold(const std::string& name, const ir::Value* value) { holders_[name] = value; }
  bool is_taken(const std::string& name) const { return taken_.contains(name); }

 private:
  const std::unordered_set<std::string>& globals_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, uint64_t> next_numbers_;  // by the name that was wanted
  std::unordered_map<std::string, const ir::Value*> holders_;
};

}  // namespace flambeau::script
