#include "flambeau/runtime/plan/plan.h"

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/runtime/interpreter.h"
#include "flambeau/runtime/layers/fuse.h"
#include "flambeau/runtime/plan/blocks.h"
#include "flambeau/runtime/plan/memory.h"
#include "flambeau/runtime/plan/record.h"
#include "flambeau/runtime/plan/tidy.h"
#include "flambeau/runtime/plan/transfer.h"
#include "flambeau/runtime/plan/uses.h"

namespace flambeau::runtime {
namespace {

// Memory that leaves the run cannot be the run's own.
void mark_outputs(Plan& plan) {
  for (const Value& output : plan.outputs) {
    for_each_tensor(output, [&](const Tensor& tensor) {
      const std::optional<size_t> index = plan.find_buffer(tensor);
      if (index && plan.buffers[*index].kind == Buffer::Kind::kArena)
        plan.buffers[*index].kind = Buffer::Kind::kOutput;
    });
  }
}

// A pass that looks at nothing but the plan, or at the context too.
template <void (*kPass)(Plan&)>
void pass(ops::Context&, Plan& plan, backends::PackedWeights&) {
  kPass(plan);
}
template <void (*kPass)(ops::Context&, Plan&)>
void pass(ops::Context& context, Plan& plan, backends::PackedWeights&) {
  kPass(context, plan);
}

constexpr PlanPass kPasses[] = {
    {"split rewritten buffers", pass<split_rewritten_buffers>},
    {"mark outputs", pass<mark_outputs>},
    {"drop unread steps", pass<drop_unread_steps>},
    {"prepare images", pass<prepare_images>},
    {"prepare products", prepare_products},
    {"prepare recurrent networks", pass<prepare_recurrent>},
    {"prepare kernels", pass<prepare_kernels>},
    {"fuse elementwise steps", pass<fuse_elementwise_steps>},
    {"add transfers", pass<add_transfers>},
    {"place buffers", pass<place_buffers>},
};

}  // namespace

std::span<const PlanPass> plan_passes() { return kPasses; }

std::unique_ptr<Plan> make_plan(ops::Context& context, const Code& code, const std::vector<bool>& is_written,
                                const std::vector<PlanInput>& inputs,
                                std::shared_ptr<const backends::Backend> backend,
                                backends::PackedWeights& packed) {
  std::unique_ptr<Plan> plan = record_plan(context, code, is_written, inputs, std::move(backend));
  for (const PlanPass& pass : kPasses) pass.run(context, *plan, packed);
  return plan;
}

std::unique_ptr<Plan> record_plan(ops::Context& context, const Code& code,
                                  const std::vector<bool>& is_written, const std::vector<PlanInput>& inputs,
                                  std::shared_ptr<const backends::Backend> backend) {
  auto plan = std::make_unique<Plan>();
  plan->backend = std::move(backend);
  Recorder recorder(*plan, code);
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const tensor = inputs[i].value.get_if<Tensor>();
    if (tensor != nullptr && tensor->layout() != Layout::kStrided)
      throw Error(ErrorCode::kUnsupported, "a program of sparse tensors has no plan");
    if (tensor == nullptr || inputs[i].is_constant) {
      values.push_back(inputs[i].value);
    } else {
      // The input's own place in its storage is added in each run.
      const Tensor at_zero = tensor->with_geometry({tensor->sizes(), tensor->strides(), 0});
      values.emplace_back(recorder.stand_in(at_zero, {.kind = Buffer::Kind::kInput, .input = i}));
    }
  }
  ops::Context recording = context;
  recording.interceptor = &recorder;
  recording.generator = nullptr;  // what is drawn here would be the same in each run
  Interpreter interpreter(recording);
  interpreter.on_node = [&](const graph::Node& node) { recorder.set_node(std::string(node.label())); };
  std::vector<Value> copies;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_written[i]) continue;
    if (values[i].is_tensor()) values[i] = ops::call(recording, "aten::clone", values[i]);
    copies.push_back(values[i]);
  }
  plan->outputs = interpreter.run(code, std::move(values));
  plan->outputs.insert(plan->outputs.end(), copies.begin(), copies.end());
  for (Value& output : plan->outputs) {
    for_each_tensor(output, [&](Tensor& tensor) { tensor = recorder.restored(tensor, context.library()); });
  }
  return plan;
}

}  // namespace flambeau::runtime
