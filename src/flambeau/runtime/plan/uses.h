// Who writes and who reads each buffer of a plan.
#pragma once

#include <cstddef>
#include <vector>

#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

struct Uses {
  static constexpr size_t kNobody = ~size_t{0};

  explicit Uses(const Plan& plan);

  struct Of {
    size_t writer = kNobody;         // the only step that writes it
    bool has_other_writers = false;  // then nothing is known of what it holds when
    bool leaves = false;             // it is an input or output of the run
    std::vector<size_t> readers;     // in order, each step once
  };
  std::vector<Of> buffers;  // beside the plan's

  // The only step that reads what this step gives as its only result, all of it as it is; kNobody when there
  // is none.
  size_t only_reader(const Plan& plan, size_t step) const;
};

// Calls visit(tensor) for what the step writes. Operators without results of their own, and those whose
// schema says so, write to arguments.
template <typename Visit>
void for_each_written(const Step& step, Visit&& visit) {
  for (const Tensor& output : step.outputs) visit(output);
  if (!step.outputs.empty() || step.op == nullptr) return;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    if (step.op->schema.arguments[i].is_written()) for_each_tensor(step.arguments[i], visit);
  }
}

// The same place, sizes and strides.
bool is_same_view(const Tensor& a, const Tensor& b);

// Gives each step that replaces a buffer's whole contents a buffer of its own, so that buffers are written
// once. What the steps compute stays the same.
void split_rewritten_buffers(Plan& plan);

}  // namespace flambeau::runtime
