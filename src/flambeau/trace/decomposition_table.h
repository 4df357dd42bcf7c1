// Which operators are taken apart: those that say so themselves (ops/mechanism/definition.h), save those a
// user keeps or has something of his own for.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/trace/decompose.h"

namespace flambeau::trace {

class DecompositionTable {
 public:
  // The operator stays as it is.
  void keep(const ops::Operator& op) { chosen_[&op] = nullptr; }
  // It is taken apart so, before views and writes are resolved.
  void set(const ops::Operator& op, Decomposition decomposition) { chosen_[&op] = std::move(decomposition); }

  // Takes a call apart, down to that level. No results where it stays.
  std::vector<Value> take_apart(ops::Context& context, const ops::Operator& op,
                                std::span<const Value> arguments, ops::Level deepest) const;

 private:
  std::unordered_map<const ops::Operator*, Decomposition> chosen_;
};

}  // namespace flambeau::trace
