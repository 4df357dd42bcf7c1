#include "flambeau/runtime/plan/tidy.h"

#include <algorithm>
#include <vector>

namespace flambeau::runtime {

void drop_unread_steps(Plan& plan) {
  // From the end: a step is needed when something needed reads what it writes, or when its results leave the
  // run. A step without results of its own writes to its arguments, or checks them.
  std::vector<bool> is_read(plan.buffers.size(), false);
  const auto read = [&](const Tensor& tensor) {
    if (const std::optional<size_t> index = plan.find_buffer(tensor)) is_read[*index] = true;
  };
  for (const Value& output : plan.outputs) for_each_tensor(output, read);
  std::vector<bool> is_needed(plan.steps.size(), false);
  for (size_t i = plan.steps.size(); i-- > 0;) {
    const Step& step = plan.steps[i];
    is_needed[i] = step.outputs.empty() || step.op->is(ops::Trait::kRandom) ||
                   std::ranges::any_of(step.outputs, [&](const Tensor& output) {
                     const std::optional<size_t> index = plan.find_buffer(output);
                     return !index || is_read[*index] || plan.buffers[*index].kind == Buffer::Kind::kInput;
                   });
    if (!is_needed[i]) continue;
    for (const Value& argument : step.arguments) for_each_tensor(argument, read);
  }
  size_t at = 0;
  std::erase_if(plan.steps, [&](const Step&) { return !is_needed[at++]; });
}

}  // namespace flambeau::runtime
