// Steps behind a layer that it can take over: each reads nothing but the whole result of the one before.
#pragma once

#include <vector>

#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/runtime/plan/plan.h"
#include "flambeau/runtime/plan/uses.h"

namespace flambeau::runtime {

// Steps that a pass has taken over, and results that moved to other memory meanwhile.
class Rewrite {
 public:
  explicit Rewrite(Plan& plan) : plan_(plan), uses_(plan), is_removed_(plan.steps.size(), false) {}

  Plan& plan() { return plan_; }
  const Uses& uses() const { return uses_; }
  bool is_removed(size_t step) const { return is_removed_[step]; }
  void remove(size_t step) { is_removed_[step] = true; }
  // From now on what was in one buffer is in another's memory.
  void move(const Tensor& from, const Tensor& to);
  // Erases steps and applies moves.
  void finish();

 private:
  Plan& plan_;
  Uses uses_;
  std::vector<bool> is_removed_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> moved_;
};

// What a layer at `step` takes over, and which steps that were.
struct Chain {
  std::vector<kernels::Epilogue> epilogues;
  std::vector<size_t> steps;
  // The other summand, added in place: the layer writes to its memory. Undefined when there is none.
  Tensor sum;
  // Where the result goes.
  Tensor out;
};

// Follows the results of `last` (the layer's own step, or the last one taken over so far). With `may_sum`,
// also a sum with a tensor that nobody else needs any more. `layer` is where all of it will be computed.
Chain follow(Rewrite& rewrite, size_t layer, size_t last, bool may_sum);

// The layer takes the place of its step and of the chain's; `label` begins its name.
void replace(Rewrite& rewrite, size_t step, const Chain& chain, const Tensor& input, std::string label,
             backends::LayerPointer layer);

}  // namespace flambeau::runtime
