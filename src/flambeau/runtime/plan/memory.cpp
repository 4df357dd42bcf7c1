#include "flambeau/runtime/plan/memory.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

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

// The placed buffers, by the steps they are needed in. Trees over the steps in which node i has the children
// 2i and 2i + 1, so that any range of steps is that of few nodes.
class Placed {
 public:
  explicit Placed(size_t steps)
      : leaves_(std::bit_ceil(steps + 1)), lists_(2 * leaves_), tops_(2 * leaves_) {}

  void add(const Buffer& buffer, size_t index, size_t bytes) {
    for_each_node(buffer.first, buffer.last, [&](size_t node) {
      lists_[node].push_back(index);
      Top& top = tops_[node];
      top.everywhere = std::max(top.everywhere, buffer.offset + bytes);
      for (; node >= 1; node /= 2)
        tops_[node].anywhere = std::max(tops_[node].anywhere, buffer.offset + bytes);
    });
    starts_.emplace(buffer.first, index);
  }

  // Those that are needed in any of the steps of another one.
  void find(const Buffer& buffer, std::vector<size_t>& found) const {
    found.clear();
    for (size_t node = buffer.first + leaves_; node >= 1; node /= 2)
      found.insert(found.end(), lists_[node].begin(), lists_[node].end());
    const auto last = starts_.lower_bound({buffer.last + 1, 0});
    for (auto next = starts_.lower_bound({buffer.first + 1, 0}); next != last; ++next)
      found.push_back(next->second);
  }

  // Above all of those.
  size_t top(const Buffer& buffer) const {
    size_t most = 0;
    for_each_node(buffer.first, buffer.last, [&](size_t node) {
      most = std::max(most, tops_[node].anywhere);
      for (node /= 2; node >= 1; node /= 2) most = std::max(most, tops_[node].everywhere);
    });
    return most;
  }

 private:
  struct Top {
    size_t everywhere = 0;  // of buffers that are needed in all steps of the node
    size_t anywhere = 0;    // in some of them
  };
  template <typename Visit>
  void for_each_node(size_t first, size_t last, Visit&& visit) const {
    for (size_t begin = first + leaves_, end = last + leaves_ + 1; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) visit(begin++);
      if (end % 2 == 1) visit(--end);
    }
  }

  size_t leaves_;
  std::vector<std::vector<size_t>> lists_;  // of buffers that are needed in all steps of the node
  std::vector<Top> tops_;
  std::set<std::pair<size_t, size_t>> starts_;
};

size_t padded(const Buffer& buffer) {
  return (std::max<size_t>(buffer.bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

// The lowest place that none of the others is at.
size_t free_place(const Plan& plan, std::vector<size_t>& others, size_t bytes) {
  std::ranges::sort(others, {}, [&](size_t index) { return std::pair(plan.buffers[index].offset, index); });
  size_t offset = 0;
  for (const size_t index : others) {
    const Buffer& other = plan.buffers[index];
    if (offset + bytes <= other.offset) break;
    offset = std::max(offset, other.offset + padded(other));
  }
  return offset;
}

// Places the buffers of one arena and gives its size. The largest first, each at the lowest place that is
// free for as long as it is needed: near the optimum for models' graphs, and simple. Where thousands of
// buffers are needed at once, comparing each with each would take longer than running: the rest goes on top
// of what is there.
size_t place_arena(Plan& plan, bool is_on_device) {
  std::vector<size_t> order;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.kind == Buffer::Kind::kArena && buffer.is_needed() && buffer.is_on_device == is_on_device)
      order.push_back(i);
  }
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return plan.buffers[a].bytes != plan.buffers[b].bytes ? plan.buffers[a].bytes > plan.buffers[b].bytes
                                                          : a < b;
  });
  size_t comparisons_left = (size_t{1} << 24) + 64 * order.size();
  Placed placed(plan.steps.size());
  std::vector<size_t> others;
  size_t arena_bytes = 0;
  for (const size_t index : order) {
    Buffer& buffer = plan.buffers[index];
    const size_t bytes = padded(buffer);
    if (comparisons_left > 0) {
      placed.find(buffer, others);
      buffer.offset = free_place(plan, others, bytes);
      comparisons_left -= std::min(comparisons_left, others.size());
    } else {
      buffer.offset = placed.top(buffer);
    }
    arena_bytes = std::max(arena_bytes, buffer.offset + bytes);
    placed.add(buffer, index, bytes);
  }
  return arena_bytes;
}

}  // namespace

void place_buffers(Plan& plan) {
  find_lifetimes(plan);
  plan.arena_bytes = place_arena(plan, false);
  plan.device_bytes = place_arena(plan, true);
  plan.scratch_bytes = 0;
  for (const Step& step : plan.steps) {
    if (step.prepared) plan.scratch_bytes = std::max(plan.scratch_bytes, step.prepared->scratch_bytes());
  }
}

}  // namespace flambeau::runtime
