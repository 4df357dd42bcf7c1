// Branches and loops that data decides, while a script is traced: both sides of a branch become functions of
// cond, the turns of a loop one of while_loop. What a side does to lists and attributes is one of its
// results; a side that raises becomes an assertion.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/flow.h"
#include "flambeau/migrate/effects.h"
#include "flambeau/migrate/joint.h"
#include "flambeau/migrate/traced_calls.h"

namespace flambeau::migration {

class BothWays final : public interpreter::Flow {
 public:
  explicit BothWays(TracedCalls& calls) : calls_(calls) {}

  void branch(interpreter::UnknownBranch& branch) override;
  void loop(interpreter::UnknownLoop& loop) override;

  // What could not be said; the trace went on all the same, to find more of it.
  bool has_obstacles() const { return !obstacles_.empty(); }
  void add_obstacle(const Error& error);
  // Throws one error for all of them, if there are any.
  void check_obstacles() const;

 private:
  struct Outcome;
  struct LoopState;

  Outcome run_side(interpreter::UnknownBranch& branch, bool side, Effects& effects, OuterWrites& writes);
  void assert_that(const Tensor& flag, bool wanted, const std::string& message);
  bool loop_as_operator(interpreter::UnknownLoop& loop);
  void find_form(interpreter::UnknownLoop& loop, LoopState& state);

  TracedCalls& calls_;
  std::vector<Error> obstacles_;
  size_t assertions_ = 0;  // made so far
  int depth_ = 0;          // of sides and turns that are being run
};

}  // namespace flambeau::migration
