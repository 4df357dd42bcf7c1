#include "flambeau/runtime/plan/blocks.h"

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/block_program.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/runtime/plan/uses.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::runtime {
namespace {

using ops::BlockProgram;

constexpr size_t kNone = ~size_t{0};

// Steps that will be computed as one, in order, at the place of the last.
struct Group {
  std::vector<size_t> steps;
  bool contains(size_t step) const { return std::ranges::binary_search(steps, step); }
};

bool is_written_whole(const Tensor& tensor) {
  return tensor.offset() == 0 && ops::is_dense(ops::info_of(tensor));
}

class Fusion {
 public:
  explicit Fusion(Plan& plan)
      : plan_(plan), uses_(plan), bodies_(plan.steps.size()), group_of_(plan.steps.size(), kNone) {}

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      bodies_[i] = body_of(i);
      if (bodies_[i]) add(i);
    }
    std::vector<bool> is_removed(plan_.steps.size(), false);
    for (const Group& group : groups_) {
      if (group.steps.size() < 2) continue;
      for (const size_t step : group.steps) is_removed[step] = step != group.steps.back();
      plan_.steps[group.steps.back()] = fused(group);
    }
    size_t at = 0;
    std::erase_if(plan_.steps, [&](const Step&) { return is_removed[at++]; });
  }

 private:
  // What the step does to each element, where it can be computed with others at a later place: its result has
  // memory of its own, and what it reads stays as it is.
  std::optional<ops::Body> body_of(size_t index) const {
    const Step& step = plan_.steps[index];
    if (step.op == nullptr || step.prepared || step.outputs.size() != 1 || step.op->body == nullptr)
      return {};
    const Tensor& out = step.outputs[0];
    const std::optional<size_t> buffer = plan_.find_buffer(out);
    if (!buffer || plan_.buffers[*buffer].kind == Buffer::Kind::kInput ||
        uses_.buffers[*buffer].has_other_writers || !is_written_whole(out) || !is_plain(out.dtype()))
      return {};
    try {
      ops::Body body = step.op->body(step.arguments, out);
      for (const ops::Input& input : body.inputs()) {
        if (input.tensor != nullptr && !may_read(*input.tensor, index, out)) return {};
      }
      return body;
    } catch (const Error&) {
      return {};  // it will say so as it runs
    }
  }
  bool may_read(const Tensor& tensor, size_t index, const Tensor& out) const {
    if (!is_plain(tensor.dtype()) || tensor.layout() != Layout::kStrided) return false;
    if (const std::optional<size_t> buffer = plan_.find_buffer(tensor)) {
      const size_t writer = uses_.buffers[*buffer].writer;
      if (writer != Uses::kNobody && writer >= index) return false;
    } else if (tensor.is_meta()) {
      return false;
    }
    return BlockProgram::takes(tensor, out);
  }

  // The step whose whole result an input is, as it is.
  size_t producer_of(const ops::Input& input) const {
    if (input.tensor == nullptr) return kNone;
    const std::optional<size_t> buffer = plan_.find_buffer(*input.tensor);
    if (!buffer) return kNone;
    const size_t writer = uses_.buffers[*buffer].writer;
    if (writer == Uses::kNobody || !bodies_[writer]) return kNone;
    return is_same_view(*input.tensor, plan_.steps[writer].outputs[0]) ? writer : kNone;
  }

  // Joins the step with the groups of what it reads, as far as they may be computed here.
  void add(size_t index) {
    Group joined{{index}};
    for (const ops::Input& input : bodies_[index]->inputs()) {
      const size_t producer = producer_of(input);
      if (producer == kNone || joined.contains(producer)) continue;
      const Group& other = groups_[group_of_[producer]];
      Group both;
      std::ranges::merge(joined.steps, other.steps, std::back_inserter(both.steps));
      if (may_be_one(both, index)) joined = std::move(both);
    }
    for (const size_t step : joined.steps) {
      if (group_of_[step] != kNone) groups_[group_of_[step]].steps.clear();
      group_of_[step] = groups_.size();
    }
    groups_.push_back(std::move(joined));
  }

  bool may_be_one(const Group& group, size_t last) const {
    if (group.steps.size() > BlockProgram::kMostSteps) return false;
    const Tensor& out = plan_.steps[last].outputs[0];
    for (const size_t step : group.steps) {
      const Tensor& each = plan_.steps[step].outputs[0];
      if (each.sizes() != out.sizes() || each.strides() != out.strides()) return false;
      // Nobody else needs its result before the last.
      for (const size_t reader : uses_.buffers[*plan_.find_buffer(each)].readers) {
        if (reader >= last) break;
        if (!group.contains(reader)) return false;
      }
      // Within the group results are read as they are, element by element.
      for (const ops::Input& input : bodies_[step]->inputs()) {
        if (input.tensor == nullptr || producer_of(input) != kNone) continue;
        const std::optional<size_t> buffer = plan_.find_buffer(*input.tensor);
        if (buffer && group.contains(uses_.buffers[*buffer].writer)) return false;
      }
    }
    return inputs_of(group).size() + outputs_of(group).size() <= BlockProgram::kMostTensors;
  }

  // What comes from outside, each view once.
  std::vector<Tensor> inputs_of(const Group& group) const {
    std::vector<Tensor> inputs;
    for (const size_t step : group.steps) {
      for (const ops::Input& input : bodies_[step]->inputs()) {
        if (input.tensor == nullptr || group.contains(producer_of(input))) continue;
        const auto is_it = [&](const Tensor& each) { return is_same_view(each, *input.tensor); };
        if (std::ranges::none_of(inputs, is_it)) inputs.push_back(*input.tensor);
      }
    }
    return inputs;
  }
  // The steps whose results somebody else needs.
  std::vector<size_t> outputs_of(const Group& group) const {
    std::vector<size_t> steps;
    for (const size_t step : group.steps) {
      const Uses::Of& of = uses_.buffers[*plan_.find_buffer(plan_.steps[step].outputs[0])];
      if (of.leaves || of.readers.empty() ||
          std::ranges::any_of(of.readers, [&](size_t reader) { return !group.contains(reader); }))
        steps.push_back(step);
    }
    return steps;
  }

  Step fused(const Group& group) {
    const std::vector<Tensor> inputs = inputs_of(group);
    const std::vector<size_t> outputs = outputs_of(group);
    Step made;
    std::vector<ops::BlockStep> program;
    for (const size_t index : group.steps) {
      const Step& step = plan_.steps[index];
      ops::BlockStep& added = program.emplace_back();
      for (const ops::Input& input : bodies_[index]->inputs()) {
        ops::BlockSource source;
        const size_t producer = producer_of(input);
        if (input.tensor != nullptr && group.contains(producer)) {
          source.kind = ops::BlockSource::Kind::kStep;
          source.index =
              static_cast<size_t>(std::ranges::lower_bound(group.steps, producer) - group.steps.begin());
        } else if (input.tensor != nullptr) {
          source.kind = ops::BlockSource::Kind::kInput;
          const auto is_it = [&](const Tensor& each) { return is_same_view(each, *input.tensor); };
          source.index = static_cast<size_t>(std::ranges::find_if(inputs, is_it) - inputs.begin());
        }
        added.sources.push_back(source);
      }
      added.dtype = step.outputs[0].dtype();
      added.is_output = std::ranges::binary_search(outputs, index);
      if (added.is_output) made.outputs.push_back(step.outputs[0]);
      added.body = std::move(*bodies_[index]);
      made.label += (made.label.empty() ? "" : " + ") + std::string(step.op->schema.name.base_name());
      made.work.flops += step.work.flops;
    }
    const Step& last = plan_.steps[group.steps.back()];
    made.blocks = std::make_shared<BlockProgram>(inputs, program, last.outputs[0]);
    made.node = last.node;
    made.calls = group.steps.size();
    for (const Tensor& tensor : inputs) {
      made.work.bytes += tensor.byte_count();
      made.arguments.emplace_back(tensor);
    }
    for (const Tensor& tensor : made.outputs) made.work.bytes += tensor.byte_count();
    return made;
  }

  Plan& plan_;
  const Uses uses_;
  std::vector<std::optional<ops::Body>> bodies_;  // beside the steps
  std::vector<size_t> group_of_;
  std::vector<Group> groups_;
};

}  // namespace

void fuse_elementwise_steps(Plan& plan) { Fusion(plan).run(); }

}  // namespace flambeau::runtime
