// Recurrent networks whose weights are constant: packed once.
#include "flambeau/runtime/layers/fuse.h"

namespace flambeau::runtime {
namespace {

// Nothing for one that only the operator's own kernel does.
std::optional<ops::RecurrentCall> call_of(const Plan& plan, const Step& step) {
  if (step.op == nullptr || step.prepared) return {};
  std::optional<ops::RecurrentCall> call = step.op->facts().as<ops::RecurrentCall>(step.arguments);
  if (!call || call->dropout != 0 || call->input->dim() != 3) return {};
  for (const Tensor& parameter : call->parameters) {
    if (plan.find_buffer(parameter)) return {};
  }
  return call;
}

}  // namespace

void prepare_recurrent(ops::Context& context, Plan& plan) {
  ops::Context plain = context.without_interceptor();
  for (Step& step : plan.steps) {
    const std::optional<ops::RecurrentCall> call = call_of(plan, step);
    if (!call) continue;
    step.prepared = plan.backend->recurrent(plain, *call);
    if (!step.prepared) continue;
    std::vector<Value> arguments = {*call->input};
    arguments.insert(arguments.end(), call->states.begin(), call->states.end());
    step.arguments = std::move(arguments);
  }
}

void prepare_kernels(ops::Context& context, Plan& plan) {
  ops::Context plain = context.without_interceptor();
  for (Step& step : plan.steps) {
    if (step.op != nullptr && !step.prepared && !step.outputs.empty())
      step.prepared = plan.backend->kernel(plain, *step.op, step.arguments, step.outputs);
  }
}

}  // namespace flambeau::runtime
