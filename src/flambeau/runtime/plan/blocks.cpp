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

// A step that may be one of a group.
struct Candidate {
  ops::Body body;
  size_t buffer = 0;  // of its result
  // Beside the body's inputs: the candidate whose whole result it is, or kNone.
  std::vector<size_t> producers = {};
  size_t group = kNone;
};

class Fusion {
 public:
  Fusion(Plan& plan, const ops::BlockKernels* kernels)
      : plan_(plan), kernels_(kernels), uses_(plan), candidates_(plan.steps.size()) {}

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      candidates_[i] = find_candidate(i);
      if (candidates_[i]) add(i);
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
  std::optional<Candidate> find_candidate(size_t index) const {
    const Step& step = plan_.steps[index];
    if (step.op == nullptr || step.prepared || step.outputs.size() != 1 || step.op->body == nullptr)
      return {};
    const Tensor& out = step.outputs[0];
    const std::optional<size_t> buffer = plan_.find_buffer(out);
    if (!buffer || plan_.buffers[*buffer].kind == Buffer::Kind::kInput ||
        uses_.buffers[*buffer].has_other_writers || !is_written_whole(out) || !is_plain(out.dtype()))
      return {};
    try {
      Candidate found{.body = step.op->body(step.arguments, out), .buffer = *buffer};
      for (const ops::Input& input : found.body.inputs()) {
        if (input.tensor != nullptr && !may_read(*input.tensor, index, out)) return {};
        found.producers.push_back(input.tensor == nullptr ? kNone : producer_of(*input.tensor));
      }
      return found;
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

  // The candidate whose whole result the tensor is, as it is.
  size_t producer_of(const Tensor& tensor) const {
    const std::optional<size_t> buffer = plan_.find_buffer(tensor);
    if (!buffer) return kNone;
    const size_t writer = uses_.buffers[*buffer].writer;
    if (writer == Uses::kNobody || !candidates_[writer]) return kNone;
    return is_same_view(tensor, plan_.steps[writer].outputs[0]) ? writer : kNone;
  }

  // Joins the step with the groups of what it reads, as far as they may be computed here.
  void add(size_t index) {
    Group joined{{index}};
    for (const size_t producer : candidates_[index]->producers) {
      if (producer == kNone || joined.contains(producer)) continue;
      const Group& other = groups_[candidates_[producer]->group];
      Group both;
      std::ranges::merge(joined.steps, other.steps, std::back_inserter(both.steps));
      if (may_be_one(both, index)) joined = std::move(both);
    }
    for (const size_t step : joined.steps) {
      size_t& group = candidates_[step]->group;
      if (group != kNone) groups_[group].steps.clear();
      group = groups_.size();
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
      for (const size_t reader : uses_.buffers[candidates_[step]->buffer].readers) {
        if (reader >= last) break;
        if (!group.contains(reader)) return false;
      }
      // Within the group results are read as they are, element by element.
      const Candidate& candidate = *candidates_[step];
      for (size_t i = 0; i < candidate.producers.size(); ++i) {
        const Tensor* const tensor = candidate.body.inputs()[i].tensor;
        if (tensor == nullptr || candidate.producers[i] != kNone) continue;
        const std::optional<size_t> buffer = plan_.find_buffer(*tensor);
        if (buffer && group.contains(uses_.buffers[*buffer].writer)) return false;
      }
    }
    return inputs_of(group).size() + outputs_of(group).size() <= BlockProgram::kMostTensors;
  }

  // What comes from outside, each view once.
  std::vector<Tensor> inputs_of(const Group& group) const {
    std::vector<Tensor> inputs;
    for (const size_t step : group.steps) {
      const Candidate& candidate = *candidates_[step];
      for (size_t i = 0; i < candidate.producers.size(); ++i) {
        const Tensor* const tensor = candidate.body.inputs()[i].tensor;
        if (tensor == nullptr || group.contains(candidate.producers[i])) continue;
        const auto is_it = [&](const Tensor& each) { return is_same_view(each, *tensor); };
        if (std::ranges::none_of(inputs, is_it)) inputs.push_back(*tensor);
      }
    }
    return inputs;
  }
  // The steps whose results somebody else needs.
  std::vector<size_t> outputs_of(const Group& group) const {
    std::vector<size_t> steps;
    for (const size_t step : group.steps) {
      const Uses::Of& of = uses_.buffers[candidates_[step]->buffer];
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
      Candidate& candidate = *candidates_[index];
      for (size_t i = 0; i < candidate.producers.size(); ++i) {
        const Tensor* const tensor = candidate.body.inputs()[i].tensor;
        const size_t producer = candidate.producers[i];
        ops::BlockSource source;
        if (group.contains(producer)) {
          source.kind = ops::BlockSource::Kind::kStep;
          source.index =
              static_cast<size_t>(std::ranges::lower_bound(group.steps, producer) - group.steps.begin());
        } else if (tensor != nullptr) {
          source.kind = ops::BlockSource::Kind::kInput;
          const auto is_it = [&](const Tensor& each) { return is_same_view(each, *tensor); };
          source.index = static_cast<size_t>(std::ranges::find_if(inputs, is_it) - inputs.begin());
        }
        added.sources.push_back(source);
      }
      added.dtype = step.outputs[0].dtype();
      added.is_output = std::ranges::binary_search(outputs, index);
      if (added.is_output) made.outputs.push_back(step.outputs[0]);
      added.body = std::move(candidate.body);
      made.label += (made.label.empty() ? "" : " + ") + std::string(step.op->schema.name.base_name());
      made.work.flops += step.work.flops;
    }
    const Step& last = plan_.steps[group.steps.back()];
    made.blocks = std::make_shared<BlockProgram>(inputs, program, last.outputs[0], kernels_);
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
  const ops::BlockKernels* kernels_;
  const Uses uses_;
  std::vector<std::optional<Candidate>> candidates_;  // beside the steps
  std::vector<Group> groups_;
};

}  // namespace

void fuse_elementwise_steps(ops::Context& context, Plan& plan) { Fusion(plan, context.kernels).run(); }

}  // namespace flambeau::runtime
