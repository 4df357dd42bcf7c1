#include "flambeau/runtime/plan/uses.h"

#include <algorithm>
#include <unordered_map>

#include "flambeau/ops/mechanism/info.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::runtime {
Uses::Uses(const Plan& plan) : buffers(plan.buffers.size()) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const Value& argument : plan.steps[i].arguments) {
      for_each_tensor(argument, [&](const Tensor& tensor) {
        const std::optional<size_t> index = plan.find_buffer(tensor);
        if (!index) return;
        std::vector<size_t>& readers = buffers[*index].readers;
        if (readers.empty() || readers.back() != i) readers.push_back(i);
      });
    }
    for_each_written(plan.steps[i], [&](const Tensor& tensor) {
      const std::optional<size_t> index = plan.find_buffer(tensor);
      if (!index) return;
      Of& of = buffers[*index];
      of.has_other_writers = of.has_other_writers || (of.writer != kNobody && of.writer != i);
      of.writer = i;
    });
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    buffers[i].leaves = plan.buffers[i].kind != Buffer::Kind::kArena;
}

size_t Uses::only_reader(const Plan& plan, size_t step) const {
  if (plan.steps[step].outputs.size() != 1) return kNobody;
  const Tensor& output = plan.steps[step].outputs[0];
  const std::optional<size_t> index = plan.find_buffer(output);
  if (!index) return kNobody;
  const Of& of = buffers[*index];
  if (of.has_other_writers || of.leaves || of.readers.size() != 1) return kNobody;
  const size_t reader = of.readers[0];
  bool is_same = true;
  for (const Value& argument : plan.steps[reader].arguments) {
    for_each_tensor(argument, [&](const Tensor& tensor) {
      if (tensor.storage() == output.storage()) is_same = is_same && is_same_view(tensor, output);
    });
  }
  return is_same ? reader : kNobody;
}

bool is_same_view(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.dtype() == b.dtype() && a.offset() == b.offset() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

void split_rewritten_buffers(Plan& plan) {
  // What stands for a storage from the current step on.
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> current;
  const auto update = [&](Tensor& tensor) {
    const auto found = current.find(tensor.storage().get());
    if (found != current.end()) tensor.set_storage(found->second, tensor.offset());
  };
  for (Step& step : plan.steps) {
    const Storage* const original = step.outputs.size() == 1 ? step.outputs[0].storage().get() : nullptr;
    for (Value& argument : step.arguments) for_each_tensor(argument, update);
    for (Tensor& output : step.outputs) update(output);
    if (original == nullptr) continue;
    const Tensor& output = step.outputs[0];
    const std::optional<size_t> index = plan.find_buffer(output);
    if (!index || plan.buffers[*index].kind != Buffer::Kind::kArena) continue;
    // In place: an argument is the result's own memory, all of it.
    const bool reads_itself = std::ranges::any_of(step.arguments, [&](const Value& argument) {
      const Tensor* const tensor = argument.get_if<Tensor>();
      return tensor != nullptr && tensor->defined() && is_same_view(*tensor, output);
    });
    const bool is_whole = output.offset() == 0 && ops::is_dense(ops::info_of(output)) &&
                          output.byte_count() == plan.buffers[*index].bytes;
    if (!reads_itself || !is_whole) continue;
    std::shared_ptr<Storage> fresh = Storage::meta(plan.buffers[*index].bytes);
    plan.buffer_of.emplace(fresh.get(), plan.buffers.size());
    plan.buffers.push_back({.kind = Buffer::Kind::kArena, .bytes = plan.buffers[*index].bytes});
    plan.stand_ins.push_back(fresh);
    step.outputs[0].set_storage(fresh, 0);
    current[original] = fresh;
  }
  for (Value& result : plan.outputs) for_each_tensor(result, update);
}

}  // namespace flambeau::runtime
