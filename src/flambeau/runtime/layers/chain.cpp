#include "flambeau/runtime/layers/chain.h"

namespace flambeau::runtime {
namespace {

using ops::Epilogue;

std::optional<Epilogue> epilogue_of(const Step& step) {
  if (step.op == nullptr || step.prepared || step.outputs.size() != 1) return {};
  return step.op->facts().as<Epilogue>(step.arguments);
}

// A function of the layer's numbers alone.
bool is_activation(const Epilogue& epilogue, const Tensor& before, const Tensor& out) {
  return epilogue.input->dtype() == DType::kFloat32 && out.dtype() == DType::kFloat32 &&
         is_same_view(*epilogue.input, before) && out.strides() == before.strides();
}

// The other operand of a plain sum of two whole tensors.
const Tensor* other_summand(const Epilogue& sum, const Tensor& one, const Tensor& out) {
  const bool is_first = is_same_view(*sum.input, one);
  if (is_first == is_same_view(*sum.other, one)) return nullptr;
  const Tensor& other = is_first ? *sum.other : *sum.input;
  const bool fits = other.dtype() == one.dtype() && other.sizes() == one.sizes() &&
                    other.strides() == one.strides() && out.strides() == one.strides() &&
                    out.dtype() == one.dtype() && other.offset() == 0;
  return fits ? &other : nullptr;
}

// The memory of `tensor` is free for the layer's result: written before the layer, and read by nobody after
// it but the sum itself.
bool is_free(const Rewrite& rewrite, const Plan& plan, const Tensor& tensor, size_t layer, size_t sum) {
  const std::optional<size_t> index = plan.find_buffer(tensor);
  if (!index || plan.buffers[*index].bytes != tensor.byte_count()) return false;
  const Uses::Of& of = rewrite.uses().buffers[*index];
  if (of.leaves || of.has_other_writers || of.writer == Uses::kNobody || of.writer >= layer) return false;
  for (const size_t reader : of.readers) {
    if (reader >= layer && reader != sum) return false;
  }
  return true;
}

Chain collect(Rewrite& rewrite, size_t layer, size_t last, bool may_sum) {
  Plan& plan = rewrite.plan();
  Chain chain;
  chain.out = plan.steps[last].outputs[0];
  for (;;) {
    const size_t next = rewrite.uses().only_reader(plan, last);
    if (next == Uses::kNobody || rewrite.is_removed(next)) return chain;
    const Step& step = plan.steps[next];
    const Tensor& before = plan.steps[last].outputs[0];
    const std::optional<Epilogue> epilogue = epilogue_of(step);
    if (!epilogue) return chain;
    if (epilogue->kind == Epilogue::Kind::kSum) {
      const Tensor* const other =
          may_sum && !chain.sum.defined() ? other_summand(*epilogue, before, step.outputs[0]) : nullptr;
      if (other == nullptr || !is_free(rewrite, plan, *other, layer, next)) return chain;
      chain.sum = *other;
    } else if (!is_activation(*epilogue, before, step.outputs[0])) {
      return chain;
    }
    chain.epilogues.push_back(*epilogue);
    chain.steps.push_back(next);
    chain.out = step.outputs[0];
    last = next;
  }
}

}  // namespace

void Rewrite::move(const Tensor& from, const Tensor& to) { moved_[from.storage().get()] = to.storage(); }

void Rewrite::finish() {
  size_t at = 0;
  std::erase_if(plan_.steps, [&](const Step&) { return is_removed_[at++]; });
  if (moved_.empty()) return;
  const auto update = [&](Tensor& tensor) {
    for (auto found = moved_.find(tensor.storage().get()); found != moved_.end();
         found = moved_.find(tensor.storage().get())) {
      tensor.set_storage(found->second, tensor.offset());
    }
  };
  for (Step& step : plan_.steps) {
    for (Value& argument : step.arguments) for_each_tensor(argument, update);
    for (Tensor& output : step.outputs) update(output);
  }
}

Chain follow(Rewrite& rewrite, size_t layer, size_t last, bool may_sum) {
  Chain chain = collect(rewrite, layer, last, may_sum);
  // What leaves the run has memory of its own: a sum cannot be done in another tensor's.
  const std::optional<size_t> out = rewrite.plan().find_buffer(chain.out);
  const bool leaves = !out || rewrite.uses().buffers[*out].leaves;
  return chain.sum.defined() && leaves ? collect(rewrite, layer, last, false) : chain;
}

void replace(Rewrite& rewrite, size_t index, const Chain& chain, const Tensor& input, std::string label,
             backends::LayerPointer layer) {
  Step& step = rewrite.plan().steps[index];
  for (const size_t taken : chain.steps) {
    label += " + " + std::string(rewrite.plan().steps[taken].op->schema.name.base_name());
    rewrite.remove(taken);
  }
  step.prepared = std::move(layer);
  step.label = std::move(label);
  step.arguments = {Value(input)};
  step.outputs = {chain.out};
  if (chain.sum.defined()) rewrite.move(chain.out, chain.sum);
}

}  // namespace flambeau::runtime
