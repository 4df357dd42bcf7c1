// What is known where a condition holds, and where it does not: x is not None, so x is no optional there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/value/type.h"

namespace flambeau::script::compiler {

struct Refinement {
  std::string name;
  Type type;
};

class Refinements {
 public:
  Refinements() = default;
  Refinements(std::vector<Refinement> if_true, std::vector<Refinement> if_false)
      : true_(std::move(if_true)), false_(std::move(if_false)) {}

  const std::vector<Refinement>& if_true() const { return true_; }
  Refinements both(const Refinements& other) const;    // a and b
  Refinements either(const Refinements& other) const;  // a or b
  Refinements opposite() const { return {false_, true_}; }

 private:
  std::vector<Refinement> true_;
  std::vector<Refinement> false_;
};

struct Condition {
  ir::Value* value = nullptr;
  Refinements refinements;
  // Where it is settled while compiling, one branch alone is compiled.
  std::optional<bool> known;
};

}  // namespace flambeau::script::compiler
