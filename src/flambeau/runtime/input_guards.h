// A program's guards over its inputs: which input each one speaks of, and whether they hold.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/graph/interface.h"
#include "flambeau/runtime/guards.h"

namespace flambeau::runtime {

class InputGuards {
 public:
  InputGuards(const graph::Interface& interface, std::span<const std::string> texts);

  // Those in a form nobody here knows; they are not checked.
  const std::vector<std::string>& unknown() const { return unknown_; }
  // Throws Error(kInvalidArgument) that says which guard is broken, and by which values.
  void check(std::span<const Value> leaves) const;

 private:
  const graph::Interface& interface_;
  std::unordered_map<std::string, size_t> by_local_name_;  // "L['x'][0]", to the leaves
  std::vector<Guard> guards_;
  std::vector<std::string> unknown_;
};

// "input 'x' (args[0])".
std::string input_text(const graph::Leaf& leaf);

}  // namespace flambeau::runtime
