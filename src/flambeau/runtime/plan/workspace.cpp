#include "flambeau/runtime/plan/workspace.h"

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/block_program.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::runtime {

Workspace::Workspace(const Plan& plan)
    : plan_(plan), storages_(plan.buffers.size()), patches_(plan.buffers.size()) {
  allocate();
  // The lists are whole before anything points into them.
  for (const Step& step : plan.steps) {
    arguments_.push_back(step.arguments);
    outputs_.push_back(step.outputs);
  }
  results_ = plan.outputs;
  const auto place_all = [&](Value& value) {
    for_each_tensor(value, [&](Tensor& tensor) { place(tensor); });
  };
  for (std::vector<Value>& list : arguments_) {
    for (Value& value : list) place_all(value);
  }
  for (std::vector<Tensor>& list : outputs_) {
    for (Tensor& tensor : list) place(tensor);
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    bool is_constant = false;
    for_each_tensor(results_[i],
                    [&](const Tensor& tensor) { is_constant = is_constant || !plan.find_buffer(tensor); });
    if (is_constant) constant_results_.push_back(i);
    place_all(results_[i]);
  }
}

void Workspace::allocate() {
  // A workspace outlives the run that makes it: each run is charged for it while it uses it.
  const WorkScope::Adopted nobody(nullptr);
  scratch_ = plan_.backend->allocate(plan_.scratch_bytes);
  const std::shared_ptr<Storage> on_host = Storage::uninitialized(plan_.arena_bytes);
  const std::shared_ptr<Storage> on_device = plan_.backend->allocate(plan_.device_bytes);
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.kind == Buffer::Kind::kArena && buffer.is_needed())
      storages_[i] = Storage::part(buffer.is_on_device ? on_device : on_host, buffer.offset, buffer.bytes);
  }
}

void Workspace::place(Tensor& tensor) {
  const std::optional<size_t> index = plan_.find_buffer(tensor);
  if (!index) return;
  if (storages_[*index]) {
    tensor.set_storage(storages_[*index], tensor.offset());
  } else {
    patches_[*index].push_back({&tensor, tensor.offset()});
  }
}

void Workspace::set_storage(size_t buffer, const std::shared_ptr<Storage>& storage, size_t byte_offset) {
  for (const Patch& patch : patches_[buffer]) {
    patch.tensor->set_storage(
        storage, patch.offset + static_cast<int64_t>(byte_offset / patch.tensor->element_size()));
  }
}

void Workspace::run_step(ops::Context& context, size_t index) {
  const Step& step = plan_.steps[index];
  with_location("node", step.node, [&] {
    ops::at_operator([&] { return std::string(step.name()); },
                     [&] {
                       for (size_t i = 0; i < step.calls; ++i) context.step();
                       if (step.prepared) {
                         step.prepared->run(context, arguments_[index], outputs_[index], *scratch_);
                       } else if (step.blocks) {
                         step.blocks->run(context, arguments_[index], outputs_[index]);
                       } else if (!outputs_[index].empty()) {
                         step.op->kernel(context, arguments_[index], outputs_[index]);
                       } else {
                         ops::execute(context, *step.op, arguments_[index]);
                       }
                     });
  });
}

std::vector<Value> Workspace::run(ops::Context& context, std::span<const Tensor* const> inputs,
                                  Profile* profile) {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.kind == Buffer::Kind::kInput) {
      const Tensor& input = *inputs[buffer.input];
      set_storage(i, input.storage(), static_cast<size_t>(input.offset()) * input.element_size());
    } else if (buffer.kind == Buffer::Kind::kOutput) {
      set_storage(i, context.allocate_storage(buffer.bytes), 0);
    }
  }
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    if (profile == nullptr) {
      run_step(context, i);
    } else {
      profile->measure(i, [&] { run_step(context, i); });
    }
  }
  std::vector<Value> results = results_;
  for (const size_t index : constant_results_) {
    for_each_tensor(results[index],
                    [&](Tensor& tensor) { tensor = ops::call(context, "aten::clone", tensor); });
  }
  // What was given out is the caller's: the next run gets memory of its own.
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].kind != Buffer::Kind::kArena) set_storage(i, nullptr, 0);
  }
  return results;
}

}  // namespace flambeau::runtime
