// Gathers the errors of a text while its parser and compiler go on behind each of them.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/script/diagnostics.h"
#include "flambeau/script/source.h"

namespace flambeau::script::syntax {

class Diagnostics {
 public:
  // Nobody reads more of them.
  static constexpr size_t kMost = 20;

  // `place` where the error names none. The first error of a line is kept alone: others on it tend to follow
  // from it, as those do that say so. Throws CompileError when there are kMost.
  void add(const Error& error, const SourceRange& place = {});
  bool empty() const { return found_.empty(); }
  size_t size() const { return found_.size(); }
  // Throws CompileError with all of them, by line; nothing when there are none.
  void throw_if_any() const;

  // Functions that have errors: whoever calls them is not told again, and they are not compiled again.
  void add_failed(const std::string& function) { failed_.insert(function); }
  void remove_failed(const std::string& function) { failed_.erase(function); }
  bool has_failed(const std::string& function) const { return failed_.contains(function); }

 private:
  [[noreturn]] void throw_all(bool is_cut) const;

  std::vector<Diagnostic> found_;
  std::set<std::pair<std::string, size_t>> lines_;  // of files
  std::set<std::string> failed_;
  bool is_limit_ = false;
};

}  // namespace flambeau::script::syntax
