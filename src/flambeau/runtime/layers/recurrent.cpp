// Recurrent networks whose weights are constant: packed once.
#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/rnn/prepared_rnn.h"
#include "flambeau/runtime/layers/fuse.h"

namespace flambeau::runtime {
namespace {

using ops::by_steps;
using ops::RnnKind;

struct Call {
  ops::RnnShape shape;
  bool batch_first = false;
};

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
    const auto* const states = arguments[1].get_if<TensorList>();
    network_.run(context, by_steps(arguments[0].tensor(), batch_first_), batch_sizes_,
                 has_cell ? (*states)[0] : arguments[1].tensor(), has_cell ? &(*states)[1] : nullptr,
                 by_steps(outputs[0], batch_first_), outputs[1], has_cell ? &outputs[2] : nullptr);
  }
  std::string name() const override { return name_; }

 private:
  ops::PreparedRnn network_;
  bool batch_first_;
  std::vector<int64_t> batch_sizes_;
  std::string name_;
};

std::optional<Call> call_of(const Plan& plan, const Step& step) {
  if (step.op == nullptr || step.prepared || step.op->schema.name.overload != "input") return {};
  static constexpr std::pair<std::string_view, RnnKind> kKinds[] = {{"aten::lstm", RnnKind::kLstm},
                                                                    {"aten::gru", RnnKind::kGru},
                                                                    {"aten::rnn_tanh", RnnKind::kTanh},
                                                                    {"aten::rnn_relu", RnnKind::kRelu}};
  const auto* const kind = std::ranges::find(kKinds, std::string_view(step.op->schema.name.name),
                                             [](const auto& entry) { return entry.first; });
  if (kind == std::end(kKinds)) return {};
  for (const Tensor& parameter : step.arguments[2].get<TensorList>()) {
    if (plan.find_buffer(parameter)) return {};
  }
  const double dropout = step.arguments[5].get<double>();
  if (dropout != 0 && step.arguments[6].get<bool>()) return {};
  Call call;
  call.shape = {kind->second, step.arguments[3].get<bool>(), false, step.arguments[4].get<int64_t>(),
                step.arguments[7].get<bool>()};
  if (const auto* const states = step.arguments[1].get_if<TensorList>();
      states != nullptr && states->size() == 2) {
    call.shape.has_projection = (*states)[0].sizes()[2] != (*states)[1].sizes()[2];
  }
  call.batch_first = step.arguments[8].get<bool>();
  return step.arguments[0].tensor().dim() == 3 ? std::optional(call) : std::nullopt;
}

}  // namespace

void prepare_recurrent(ops::Context& context, Plan& plan) {
  ops::Context plain = context.without_interceptor();
  for (Step& step : plan.steps) {
    const std::optional<Call> call = call_of(plan, step);
    if (!call) continue;
    const Dims& sizes = step.arguments[0].tensor().sizes();
    try {
      ops::PreparedRnn network(plain, call->shape, step.arguments[2].get<TensorList>());
      step.prepared = std::make_shared<RecurrentStep>(std::move(network), call->batch_first,
                                                      sizes[call->batch_first ? 1 : 0],
                                                      sizes[call->batch_first ? 0 : 1], step.op->name());
    } catch (const Error&) {
      continue;  // the operator's own kernel tells what is wrong
    }
    step.arguments.resize(2);
  }
}

}  // namespace flambeau::runtime
