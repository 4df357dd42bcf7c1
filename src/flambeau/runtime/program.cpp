#include "flambeau/runtime/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/graph/bind_call.h"
#include "flambeau/graph/program.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/engines/block_kernel.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/passes/effects.h"
#include "flambeau/runtime/inputs.h"
#include "flambeau/runtime/interpreter.h"
#include "flambeau/runtime/plan/plan_cache.h"
#include "flambeau/runtime/requirements.h"

namespace flambeau::runtime {
namespace {

using graph::InputKind;
using graph::OutputKind;

// Copies what a caller nested into a flat list, as the spec has it.
void flatten(const TreeSpec& spec, const Value& value, const std::string& path, std::vector<Value>& leaves) {
  if (spec.is_leaf()) {
    leaves.push_back(value);
    return;
  }
  const auto fail = [&](const std::string& found) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is {}, a container of {} is expected", path, found, spec.children().size()));
  };
  std::vector<Value> items;
  if (const auto* const list = value.get_if<ValueList>()) {
    items = *list;
  } else if (const auto* const tensors = value.get_if<TensorList>()) {
    items.assign(tensors->begin(), tensors->end());
  } else if (const auto* const numbers = value.get_if<Dims>()) {
    items.assign(numbers->begin(), numbers->end());
  } else {
    fail(value.is_none() ? "None" : value.summary());
  }
  if (items.size() != spec.children().size()) fail(fmt::format("of {}", items.size()));
  for (size_t i = 0; i < items.size(); ++i)
    flatten(spec.child(i), items[i], path + spec.child_path(i), leaves);
}

void label(Profile& profile, const Plan& plan) {
  profile.entries.resize(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    profile.entries[i].node = plan.steps[i].node;
    profile.entries[i].op = plan.steps[i].name();
    profile.set_work(i, plan.steps[i].work.bytes, plan.steps[i].work.flops);
  }
}

void label(Profile& profile, const Code& code) {
  profile.entries.resize(code.instructions.size());
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    profile.entries[i].node = code.instructions[i].node->label();
    profile.entries[i].op = code.instructions[i].node->target.text();
  }
}

}  // namespace

struct Program::State {
  State(graph::ExportedProgram exported_program, ProgramOptions options)
      : program(std::move(exported_program)),
        library(options.library ? options.library : std::make_shared<const ops::Library>()),
        pool(options.threads),
        interface(graph::interface_of(program)),
        checker(interface, program.guards_code) {
    if (!options.ignore_guards) require_readable(checker.unknown_guards());
    std::vector<MissingOperator> missing;
    code = lower(program.graph(), *library, missing);
    require_operators(missing);
    is_written = passes::written_inputs(program.graph(), *library);
    bind_weights();
    if (options.live_weights.empty()) copy_small_weights();
    may_plan = options.plan;
    kernels = std::move(options.kernels);
    backend = options.backend ? std::move(options.backend) : backends::make_backend();
    has_symbols = std::ranges::any_of(interface.inputs, [](const graph::Leaf& leaf) {
      return std::ranges::any_of(leaf.sizes(), [](const graph::LeafSize& size) { return !size.literal; });
    });
    is_changed.resize(weights.size(), false);
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (is_written[i] && bindings[i].weight != kNone) is_changed[bindings[i].weight] = true;
    }
    for (const graph::OutputSpec& output : program.signature.outputs) {
      const auto found = weight_names.find(output.target);
      if (found != weight_names.end()) is_changed[found->second] = true;
    }
    for (const std::string& name : options.live_weights) {
      const auto found = weight_names.find(name);
      if (found != weight_names.end()) is_changed[*live.insert(found->second).first] = true;
    }
    changed_count = static_cast<size_t>(std::ranges::count(is_changed, true));
  }

  void bind_weights() {
    std::unordered_map<std::string_view, const graph::Weight*> by_name;
    for (const graph::Weight& weight : program.state_dict) by_name.emplace(weight.name, &weight);
    for (const graph::Weight& weight : program.constants) by_name.emplace(weight.name, &weight);
    size_t leaf = 0;
    for (const graph::InputSpec& input : program.signature.inputs) {
      Binding binding;
      switch (input.kind) {
        case InputKind::kUserInput:
        case InputKind::kConstantInput:
          binding.leaf = leaf++;
          break;
        case InputKind::kParameter:
        case InputKind::kBuffer:
        case InputKind::kTensorConstant: {
          const auto found = by_name.find(input.target);
          if (found == by_name.end()) {
            throw Error(ErrorCode::kNotFound,
                        fmt::format("the program has no weight '{}'", printable(input.target)),
                        "load the whole archive, not its graph alone");
          }
          const graph::Weight& weight = *found->second;
          if (weight.pickled != nullptr || !weight.tensor.defined()) {
            throw Error(
                ErrorCode::kUnsupported,
                fmt::format("the weight '{}' is an object of a Python class", printable(input.target)),
                "export the model with plain tensors");
          }
          binding.weight = weights.size();
          weight_names.emplace(input.target, weights.size());
          weights.push_back(weight.tensor);
          if (weight.tensor.storage()->mapping()) files.insert(weight.tensor.storage()->mapping());
          break;
        }
        default:
          break;  // tokens and objects are None
      }
      if (const size_t i = bindings.size(); i < program.graph().inputs().size())
        leaves_of_values.emplace(program.graph().inputs()[i].value(), binding.leaf);
      bindings.push_back(binding);
    }
  }

  // A small model's weights become memory of its own: to ask the system at every run whether the file changed
  // would take a noticeable part of the run.
  void copy_small_weights() {
    constexpr size_t kSmall = size_t{1} << 20;
    std::unordered_map<const Storage*, std::shared_ptr<Storage>> copies;
    size_t bytes = 0;
    for (const Tensor& weight : weights) {
      if (weight.layout() != Layout::kStrided || weight.quantizer() != nullptr) return;
      const Storage& storage = *weight.storage();
      if (!storage.mapping() || !copies.emplace(&storage, nullptr).second) continue;
      bytes += storage.size();
      if (bytes > kSmall) return;
    }
    for (Tensor& weight : weights) {
      const auto found = copies.find(weight.storage().get());
      if (found == copies.end()) continue;
      std::shared_ptr<Storage>& copy = found->second;
      if (!copy) {
        copy = Storage::uninitialized(weight.storage()->size());
        std::ranges::copy(weight.storage()->bytes(), copy->mutable_bytes().begin());
      }
      Tensor copied = Tensor::strided(weight.dtype(), weight.geometry(), copy, weight.device());
      copied.set_requires_grad(weight.requires_grad());
      weight = std::move(copied);
    }
    for (const std::shared_ptr<Mapping>& file : files) file->check_unchanged();
    files.clear();
  }

  Tensor weight(size_t index) const {
    const std::lock_guard lock(state_mutex);
    return weights[index];
  }

  std::vector<Value> graph_inputs(std::span<const Value> leaves) const {
    std::vector<Value> inputs(bindings.size());
    const std::lock_guard lock(state_mutex);
    for (size_t i = 0; i < bindings.size(); ++i) {
      const Binding& binding = bindings[i];
      if (binding.leaf != kNone) inputs[i] = leaves[binding.leaf];
      if (binding.weight != kNone) inputs[i] = weights[binding.weight];
    }
    return inputs;
  }

  // What a plan takes at each run: the tensors among the graph's inputs that it does not have already, null
  // for others.
  struct PlanTensors {
    std::vector<const Tensor*> inputs;
    std::vector<Tensor> state;  // as it is now, whatever other runs make of it
  };
  PlanTensors plan_tensors(std::span<const Value> leaves) const {
    PlanTensors tensors{std::vector<const Tensor*>(bindings.size()), {}};
    tensors.state.reserve(changed_count);
    std::unique_lock lock(state_mutex, std::defer_lock);
    if (changed_count != 0) lock.lock();
    for (size_t i = 0; i < bindings.size(); ++i) {
      const Binding& binding = bindings[i];
      if (binding.leaf != kNone) tensors.inputs[i] = leaves[binding.leaf].get_if<Tensor>();
      if (binding.weight != kNone && is_changed[binding.weight])
        tensors.inputs[i] = &tensors.state.emplace_back(weights[binding.weight]);
    }
    return tensors;
  }

  // The plan for these inputs; null where there is none.
  std::shared_ptr<PlanCache::Entry> find_plan(ops::Context& context, std::span<const Value> leaves) {
    if (!may_plan.load(std::memory_order_relaxed)) return nullptr;
    std::shared_ptr<PlanCache::Entry> entry = plans.find(PlanCache::key_of(leaves));
    const std::lock_guard lock(entry->mutex);
    if (entry->plan) return entry;
    if (entry->is_impossible) return nullptr;
    const std::vector<Value> inputs = graph_inputs(leaves);
    std::vector<PlanInput> plan_inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_state = bindings[i].weight != kNone && !is_changed[bindings[i].weight];
      plan_inputs.push_back({inputs[i], is_state});
    }
    try {
      // Also for shapes that are seen for the first time: prepared layers round differently than single
      // operators, and a run must give what the next one gives.
      entry->plan = make_plan(context, *code, is_written, plan_inputs, backend, packed);
      has_planned = true;
      return entry;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kLimit) throw;
      // The interpreter tells what is wrong, if anything is; a program that never has a plan is not asked
      // again.
      entry->is_impossible = true;
      if (!has_planned && (++plan_failures > 2 || !has_symbols)) may_plan = false;
      return nullptr;
    }
  }

  // Throws Error(kIo) when weights or inputs are those of a file that is no longer what it was.
  void check_files(std::span<const Value> leaves) const {
    for (const std::shared_ptr<Mapping>& file : files) file->check_unchanged();
    for (const Value& leaf : leaves)
      for_each_tensor(leaf, [](const Tensor& tensor) { tensor.storage()->check_unchanged(); });
  }

  // What the graph gives, by a plan where there is one.
  std::vector<Value> compute(ops::Context& context, std::span<const Value> leaves, Profile* profile) {
    if (const std::shared_ptr<PlanCache::Entry> entry = find_plan(context, leaves)) {
      const PlanTensors tensors = plan_tensors(leaves);
      const MemoryCharge memory(entry->plan->arena_bytes + entry->plan->scratch_bytes);
      std::unique_ptr<Workspace> workspace = PlanCache::take(*entry);
      std::vector<Value> results = workspace->run(context, tensors.inputs, profile);
      PlanCache::give_back(*entry, std::move(workspace));
      if (profile != nullptr) label(*profile, *entry->plan);
      return results;
    }
    std::vector<Value> inputs = graph_inputs(leaves);
    std::vector<Value> copies;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_written[i]) continue;
      if (inputs[i].is_tensor()) inputs[i] = ops::call(context, "aten::clone", inputs[i]);
      copies.push_back(inputs[i]);
    }
    Interpreter interpreter(context, profile);
    std::vector<Value> results = interpreter.run(*code, std::move(inputs));
    results.insert(results.end(), copies.begin(), copies.end());
    if (profile != nullptr) label(*profile, *code);
    return results;
  }

  // Gives the user's outputs, and updates what the program changes: nothing here may fail halfway.
  std::vector<Value> deliver(ops::Context& context, std::vector<Value> results,
                             std::span<const Value> leaves) {
    const auto& specs = program.signature.outputs;
    // Behind the graph's outputs come the copies of inputs that it wrote to.
    size_t at = code->outputs.size();
    std::vector<Value> given;
    std::vector<std::pair<Tensor, Tensor>> copies;  // from, to
    std::vector<std::pair<size_t, Tensor>> changed;
    for (size_t i = 0; i < specs.size() && i < results.size(); ++i) {
      switch (specs[i].kind) {
        case OutputKind::kBufferMutation:
        case OutputKind::kParameterMutation: {
          const auto found = weight_names.find(specs[i].target);
          if (found != weight_names.end()) changed.emplace_back(found->second, results[i].tensor());
          break;
        }
        case OutputKind::kUserInputMutation: {
          const size_t leaf = leaf_of(specs[i]);
          if (leaf != kNone && leaves[leaf].is_tensor())
            copies.emplace_back(results[i].tensor(), leaves[leaf].tensor());
          break;
        }
        case OutputKind::kToken:
        case OutputKind::kUnknown:
          break;
        default:
          given.push_back(std::move(results[i]));
      }
    }
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (!is_written[i]) continue;
      const Value& copy = results.at(at++);
      if (!copy.is_tensor()) continue;
      if (bindings[i].weight != kNone) changed.emplace_back(bindings[i].weight, copy.tensor());
      if (bindings[i].leaf != kNone) copies.emplace_back(copy.tensor(), leaves[bindings[i].leaf].tensor());
    }
    for (const auto& [from, to] : copies) {
      if (from.sizes() != to.sizes()) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the program changes an input of {} to {}", to.summary(), from.summary()));
      }
    }
    for (const auto& [index, tensor] : changed) {
      if (live.contains(index)) copies.emplace_back(tensor, weights[index]);  // which stays where it is
    }
    for (const auto& [from, to] : copies) ops::copy_into(context, from, to);
    const std::lock_guard lock(state_mutex);
    for (auto& [index, tensor] : changed) {
      if (!live.contains(index)) weights[index] = std::move(tensor);
    }
    return given;
  }

  size_t leaf_of(const graph::OutputSpec& output) const {
    const auto found = output.input ? leaves_of_values.find(output.input.get()) : leaves_of_values.end();
    return found == leaves_of_values.end() ? kNone : found->second;
  }

  static constexpr size_t kNone = ~size_t{0};
  struct Binding {
    size_t leaf = kNone;
    size_t weight = kNone;
  };

  graph::ExportedProgram program;
  std::shared_ptr<const ops::Library> library;
  ThreadPool pool;
  graph::Interface interface;
  InputChecker checker;
  std::unique_ptr<Code> code;
  std::vector<bool> is_written;
  std::vector<Binding> bindings;  // of the graph's inputs
  std::unordered_map<const graph::Value*, size_t> leaves_of_values;
  std::unordered_map<std::string, size_t> weight_names;
  mutable std::mutex state_mutex;
  std::vector<Tensor> weights;               // guarded
  std::set<std::shared_ptr<Mapping>> files;  // where the weights are
  std::mutex generator_mutex;
  kernels::Generator generator;

  std::atomic<bool> may_plan = true;
  bool has_symbols = false;
  std::atomic<int> plan_failures = 0;
  std::atomic<bool> has_planned = false;
  std::vector<bool> is_changed;  // beside weights: runs update them, or whoever gave them does
  size_t changed_count = 0;
  std::set<size_t> live;  // the latter
  std::shared_ptr<const backends::Backend> backend;
  std::shared_ptr<const ops::BlockKernels> kernels;
  backends::PackedWeights packed;
  PlanCache plans;
};

Program::Program(graph::ExportedProgram program, ProgramOptions options)
    : state_(std::make_unique<State>(std::move(program), std::move(options))) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const graph::Interface& Program::interface() const { return state_->interface; }
const std::vector<std::string>& Program::unknown_guards() const { return state_->checker.unknown_guards(); }
const graph::ExportedProgram& Program::exported() const { return state_->program; }
const ops::Library& Program::library() const { return *state_->library; }
ThreadPool& Program::pool() const { return state_->pool; }

bool Program::prepare(std::span<const Value> leaves) {
  State& state = *state_;
  state.checker.check(leaves);
  ops::Context context(*state.library, state.pool);
  context.kernels = state.kernels.get();
  return state.find_plan(context, leaves) != nullptr;
}

std::vector<Value> Program::run(std::span<const Value> leaves, const RunOptions& options) {
  State& state = *state_;
  state.checker.check(leaves);
  const WorkScope work(options.budget.limits());
  ops::Context context(*state.library, state.pool);
  context.kernels = state.kernels.get();
  context.most_steps = options.budget.steps;
  context.allocator = options.allocator;
  context.generator = options.generator != nullptr ? options.generator : &state.generator;
  // Runs that draw from the program's own numbers take turns.
  std::unique_lock turn(state.generator_mutex, std::defer_lock);
  if (options.generator == nullptr) context.generator_turn = &turn;
  std::vector<Value> results;
  try {
    results = state.compute(context, leaves, options.profile);
  } catch (const Error&) {
    state.check_files(leaves);
    throw;
  }
  state.check_files(leaves);
  return state.deliver(context, std::move(results), leaves);
}

std::vector<Value> Program::run(std::span<const Value> arguments, const KeywordArguments& keywords,
                                const RunOptions& options) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : keywords) names.push_back(name);
  std::vector<Value> leaves;
  for (const graph::BoundArgument& each : graph::bind_call(interface(), arguments.size(), names)) {
    const Value& given = each.is_keyword ? keywords[each.index].second : arguments[each.index];
    flatten(*each.spec, given, each.path, leaves);
  }
  return run(leaves, options);
}

Tensor Program::state(std::string_view name) const {
  const auto found = state_->weight_names.find(std::string(name));
  return found == state_->weight_names.end() ? Tensor() : state_->weight(found->second);
}

void Program::manual_seed(uint64_t seed) {
  const std::lock_guard lock(state_->generator_mutex);
  state_->generator.manual_seed(seed);
}

}  // namespace flambeau::runtime
