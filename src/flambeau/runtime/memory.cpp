#include "flambeau/runtime/memory.h"

#include <algorithm>
#include <numeric>

namespace flambeau::runtime {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kNever = ~size_t{0};

void find_lifetimes(Plan& plan) {
  for (Buffer& buffer : plan.buffers) {
    buffer.first = kNever;
    buffer.last = 0;
  }
  const auto touch = [&](const Tensor& tensor, size_t step) {
    if (const std::optional<size_t> index = plan.find_buffer(tensor)) {
      Buffer& buffer = plan.buffers[*index];
      buffer.first = std::min(buffer.first, step);
      buffer.last = std::max(buffer.last, step);
    }
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const Value& argument : plan.steps[i].arguments) {
      for_each_tensor(argument, [&](const Tensor& tensor) { touch(tensor, i); });
    }
    for (const Tensor& output : plan.steps[i].outputs) touch(output, i);
  }
}

}  // namespace

// The largest first, each at the lowest place that is free for as long as it is needed: near the optimum for
// models' graphs, and simple.
void place_buffers(Plan& plan) {
  find_lifetimes(plan);
  std::vector<size_t> order;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.kind == Buffer::Kind::kArena && buffer.first != kNever) order.push_back(i);
  }
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return plan.buffers[a].bytes != plan.buffers[b].bytes ? plan.buffers[a].bytes > plan.buffers[b].bytes
                                                          : a < b;
  });
  std::vector<size_t> placed;  // by place
  plan.arena_bytes = 0;
  for (const size_t index : order) {
    Buffer& buffer = plan.buffers[index];
    const size_t bytes = (std::max<size_t>(buffer.bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    size_t offset = 0;
    for (const size_t other_index : placed) {
      const Buffer& other = plan.buffers[other_index];
      if (other.last < buffer.first || buffer.last < other.first) continue;
      if (offset + bytes <= other.offset) break;
      const size_t other_bytes =
          (std::max<size_t>(other.bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
      offset = std::max(offset, other.offset + other_bytes);
    }
    buffer.offset = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
    placed.insert(
        std::ranges::upper_bound(placed, offset, {}, [&](size_t at) { return plan.buffers[at].offset; }),
        index);
  }
  plan.scratch_bytes = 0;
  for (const Step& step : plan.steps) {
    if (step.prepared) plan.scratch_bytes = std::max(plan.scratch_bytes, step.prepared->scratch_bytes());
  }
}

}  // namespace flambeau::runtime
