#include "flambeau/runtime/layers/chain.h"

#include "flambeau/runtime/layers/activation.h"

namespace flambeau::runtime {
namespace {

using kernels::onednn::PostOp;

// The other operand of a plain sum of two whole tensors.
const Tensor* other_summand(const Step& step, const Tensor& one) {
  if (step.op == nullptr || step.prepared || step.op->name() != "aten::add.Tensor" ||
      step.outputs.size() != 1)
    return nullptr;
  if (!(step.arguments[2].scalar() == Scalar(int64_t{1}))) return nullptr;
  const Tensor& a = step.arguments[0].tensor();
  const Tensor& b = step.arguments[1].tensor();
  const Tensor& other = is_same_view(a, one) ? b : a;
  if (is_same_view(a, one) == is_same_view(b, one)) return nullptr;
  const bool fits = other.dtype() == one.dtype() && other.sizes() == one.sizes() &&
                    other.strides() == one.strides() && step.outputs[0].strides() == one.strides() &&
                    step.outputs[0].dtype() == one.dtype() && other.offset() == 0;
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
    if (const std::optional<PostOp> activation = as_activation(step)) {
      if (!is_same_view(step.arguments[0].tensor(), before) || step.outputs[0].strides() != before.strides())
        return chain;
      chain.post.push_back(*activation);
    } else if (const Tensor* const other =
                   may_sum && !chain.sum.defined() ? other_summand(step, before) : nullptr) {
      if (!is_free(rewrite, plan, *other, layer, next)) return chain;
      chain.sum = *other;
      chain.post.push_back({.kind = PostOp::Kind::kSum, .alpha = 1});
    } else {
      return chain;
    }
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

int part_count(const ThreadPool& pool, int64_t work) {
  constexpr int64_t kLeast = int64_t{1} << 20;  // some ten microseconds
  return pool.threads() == 1 || work < kLeast ? 1 : pool.threads() * 2;
}

Chain follow(Rewrite& rewrite, size_t layer, size_t last, bool may_sum) {
  Chain chain = collect(rewrite, layer, last, may_sum);
  // What leaves the run has memory of its own: a sum cannot be done in another tensor's.
  const std::optional<size_t> out = rewrite.plan().find_buffer(chain.out);
  const bool leaves = !out || rewrite.uses().buffers[*out].leaves;
  return chain.sum.defined() && leaves ? collect(rewrite, layer, last, false) : chain;
}

}  // namespace flambeau::runtime
