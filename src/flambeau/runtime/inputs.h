// Whether what a caller gives fits what a program takes: counts, kinds, types, sizes, and the program's
// symbols solved from the sizes, with their ranges and guards.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flambeau/graph/interface.h"
#include "flambeau/runtime/input_guards.h"
#include "flambeau/value/value.h"

namespace flambeau::runtime {

class InputChecker {
 public:
  // Where tensors must be. What a module is called with while it is traced may be anywhere.
  enum class Where : uint8_t { kCpu, kAnywhere };

  // The interface must outlive it.
  InputChecker(const graph::Interface& interface, std::span<const std::string> guards,
               Where where = Where::kCpu);

  // Guards, ranges and sizes that are in a form nobody here knows; they are not checked.
  const std::vector<std::string>& unknown_guards() const { return unknown_guards_; }

  // Throws Error(kInvalidArgument) that names the input, the dimension, the rule and the value. Of traced
  // inputs, sizes and ranges become questions to the trace; expressions and guards need numbers, and the
  // operators that made them ask them of the trace again.
  void check(std::span<const Value> leaves) const;

 private:
  class Symbols;

  void check_count(size_t given) const;
  void check_leaf(size_t index, const Value& value, Symbols& symbols) const;
  void check_tensor(size_t index, const Tensor& tensor, Symbols& symbols) const;
  void check_sizes(size_t index, const SymIntList& sizes, Symbols& symbols) const;
  void check_constant(size_t index, const Value& value) const;
  void check_expressions(std::span<const Value> leaves, Symbols& symbols) const;
  void check_ranges(std::span<const Value> leaves) const;
  const graph::Leaf& leaf(size_t index) const { return interface_.inputs[index]; }
  std::string place(size_t index) const { return input_text(leaf(index)); }

  const graph::Interface& interface_;
  InputGuards guards_;
  Where where_;
  std::vector<std::string> unknown_guards_;
};

}  // namespace flambeau::runtime
