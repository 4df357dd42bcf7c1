// Recurrent networks whose weights are constant: packed once.
#include "flambeau/base/error.h"
#include "flambeau/ops/rnn/prepared_rnn.h"
#include "flambeau/runtime/layers/fuse.h"

namespace flambeau::runtime {
namespace {

using ops::by_steps;

class RecurrentStep final : public Prepared {
 public:
  RecurrentStep(ops::PreparedRnn network, bool batch_first, int64_t steps, int64_t batch, std::string name)
      : network_(std::move(network)),
        batch_first_(batch_first),
        batch_sizes_(static_cast<size_t>(steps), batch),
        name_(std::move(name)) {}
  void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
           MutableByteSpan) const override {
    const bool has_cell = outputs.size() > 2;
    network_.run(context, by_steps(arguments[0].tensor(), batch_first_), batch_sizes_, arguments[1].tensor(),
                 has_cell ? &arguments[2].tensor() : nullptr, by_steps(outputs[0], batch_first_), outputs[1],
                 has_cell ? &outputs[2] : nullptr);
  }
  std::string name() const override { return name_; }

 private:
  ops::PreparedRnn network_;
  bool batch_first_;
  std::vector<int64_t> batch_sizes_;
  std::string name_;
};

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

ops::RnnShape shape_of(const ops::RecurrentCall& call) {
  const bool has_projection =
      call.states.size() == 2 && call.states[0].sizes()[2] != call.states[1].sizes()[2];
  return {call.kind, call.has_biases, has_projection, call.layers, call.is_bidirectional};
}

}  // namespace

void prepare_recurrent(ops::Context& context, Plan& plan) {
  ops::Context plain = context.without_interceptor();
  for (Step& step : plan.steps) {
    const std::optional<ops::RecurrentCall> call = call_of(plan, step);
    if (!call) continue;
    const Dims& sizes = call->input->sizes();
    try {
      ops::PreparedRnn network(plain, shape_of(*call), call->parameters);
      step.prepared =
          std::make_shared<RecurrentStep>(std::move(network), call->batch_first, sizes[call->sequence_dim()],
                                          sizes[1 - call->sequence_dim()], step.op->name());
    } catch (const Error&) {
      continue;  // the operator's own kernel tells what is wrong
    }
    std::vector<Value> arguments = {*call->input};
    arguments.insert(arguments.end(), call->states.begin(), call->states.end());
    step.arguments = std::move(arguments);
  }
}

}  // namespace flambeau::runtime
