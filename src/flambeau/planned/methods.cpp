#include "flambeau/planned/methods.h"

#include <algorithm>
#include <list>
#include <utility>

#include "flambeau/backends/choice.h"
#include "flambeau/backends/packed_weights.h"
#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/planned/leaves.h"
#include "flambeau/planned/purity.h"
#include "flambeau/runtime/plan/record.h"
#include "flambeau/runtime/plan/workspace.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::planned {
namespace {

constexpr size_t kMostPlans = 8;       // of a method
constexpr size_t kMostWorkspaces = 4;  // of a plan, that nobody uses
constexpr int kMostFailures = 3;       // then a method that never had a plan is not asked again

// While it lasts the machine's operators are written down instead of run.
class Recording {
 public:
  Recording(ops::Context& context, ops::Interceptor& recorder)
      : context_(context),
        interceptor_(std::exchange(context.interceptor, &recorder)),
        generator_(std::exchange(context.generator, nullptr)) {}
  ~Recording() {
    context_.interceptor = interceptor_;
    context_.generator = generator_;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  ops::Context& context_;
  ops::Interceptor* interceptor_;
  kernels::Generator* generator_;  // what is drawn here would be the same in each run
};

Leaves leaves_of(std::span<const IValue> arguments) {
  Leaves leaves;
  for (const IValue& argument : arguments.subspan(1)) add_leaves(argument, leaves);
  return leaves;
}

}  // namespace

struct Methods::Shared {
  std::shared_ptr<const backends::Backend> backend = backends::make_backend();
  backends::PackedWeights packed;
};

struct Methods::Planned {
  std::string key;
  std::mutex mutex;
  bool is_impossible = false;
  std::unique_ptr<runtime::Plan> plan;  // null: not made yet, or impossible
  IValue result;                        // as it was recorded
  // Of each tensor in it, which of the plan's outputs it is, or which of the arguments' tensors.
  struct Origin {
    bool is_argument = false;
    size_t index = 0;
  };
  std::unordered_map<const void*, Origin> origins;
  std::vector<std::unique_ptr<runtime::Workspace>> free;

  std::unique_ptr<runtime::Workspace> take() {
    const std::lock_guard lock(mutex);
    if (free.empty()) return std::make_unique<runtime::Workspace>(*plan);
    std::unique_ptr<runtime::Workspace> workspace = std::move(free.back());
    free.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<runtime::Workspace> workspace) {
    const std::lock_guard lock(mutex);
    if (free.size() < kMostWorkspaces) free.push_back(std::move(workspace));
  }
};

struct Methods::Method {
  std::shared_ptr<script::Function> function;
  std::atomic<int> failures = 0;
  std::atomic<bool> has_plan = false;
  std::mutex mutex;
  std::list<std::shared_ptr<Planned>> plans;  // last used first
};

Methods::Methods() = default;
Methods::~Methods() = default;

bool Methods::add(const std::shared_ptr<script::Function>& method) {
  if (!is_pure(*method->graph())) return false;
  const std::lock_guard lock(mutex_);
  if (shared_ == nullptr) shared_ = std::make_unique<Shared>();
  std::unique_ptr<Method>& made = methods_[method.get()];
  if (made == nullptr) made = std::make_unique<Method>();
  made->function = method;
  return true;
}

bool Methods::has(const script::Function& method) {
  const std::lock_guard lock(mutex_);
  return methods_.contains(&method);
}

std::shared_ptr<Methods::Planned> Methods::find(Method& method, const std::string& key) {
  const std::lock_guard lock(method.mutex);
  const auto found = std::ranges::find(method.plans, key, [](const auto& planned) { return planned->key; });
  if (found != method.plans.end()) {
    method.plans.splice(method.plans.begin(), method.plans, found);
  } else {
    method.plans.push_front(std::make_shared<Planned>());
    method.plans.front()->key = key;
    if (method.plans.size() > kMostPlans) method.plans.pop_back();
  }
  return method.plans.front();
}

void Methods::make(interpreter::Machine& machine, Method& method, Planned& planned,
                   std::span<const IValue> arguments) {
  const ops::Library& library = machine.program().library();
  auto plan = std::make_unique<runtime::Plan>();
  plan->backend = shared_->backend;
  runtime::Recorder recorder(*plan, calls_of(*method.function->graph(), library));
  recorder.set_node(method.function->qualified_name());
  std::unordered_map<const void*, IValue> stand_ins;  // by the boxes of what they stand for
  std::unordered_map<const void*, size_t> inputs;     // by their own
  std::vector<IValue> given = {arguments[0]};
  const auto stand_in = [&](const IValue& value) {
    if (const auto known = stand_ins.find(value.identity()); known != stand_ins.end()) return known->second;
    const Tensor& tensor = value.as_tensor();
    // The input's own place in its storage is added in each run.
    const Tensor at_zero = tensor.with_geometry({tensor.sizes(), tensor.strides(), 0});
    const size_t index = inputs.size();
    const IValue made(recorder.stand_in(at_zero, {.kind = runtime::Buffer::Kind::kInput, .input = index}));
    inputs.emplace(made.identity(), index);
    stand_ins.emplace(value.identity(), made);
    return made;
  };
  for (const IValue& argument : arguments.subspan(1)) given.push_back(with_tensors(argument, stand_in));
  {
    const Recording recording(machine.context(), recorder);
    planned.result = machine.call(method.function, given);
    Leaves leaves;
    add_leaves(planned.result, leaves);
    if (!leaves.is_plain) throw Error(ErrorCode::kUnsupported, "the result has no plan");
    for (const IValue& value : leaves.tensors) {
      if (const auto input = inputs.find(value.identity()); input != inputs.end()) {
        planned.origins[value.identity()] = {true, input->second};
        continue;
      }
      planned.origins[value.identity()] = {false, plan->outputs.size()};
      plan->outputs.emplace_back(recorder.restored(value.as_tensor(), library));
    }
  }
  for (const runtime::PlanPass& pass : runtime::plan_passes())
    pass.run(machine.context(), *plan, shared_->packed);
  planned.plan = std::move(plan);
}

std::optional<IValue> Methods::run(interpreter::Machine& machine, const script::Function& function,
                                   std::span<const IValue> arguments) {
  Method* method = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = methods_.find(&function);
    if (found == methods_.end()) return std::nullopt;
    method = found->second.get();
  }
  if (arguments.empty() || (!method->has_plan && method->failures >= kMostFailures)) return std::nullopt;
  const Leaves leaves = leaves_of(arguments);
  if (!leaves.is_plain) return std::nullopt;
  const std::shared_ptr<Planned> planned = find(*method, leaves.key);
  {
    const std::lock_guard lock(planned->mutex);
    if (planned->is_impossible) return std::nullopt;
    if (planned->plan == nullptr) {
      try {
        make(machine, *method, *planned, arguments);
        method->has_plan = true;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kCancelled) throw;
        // The machine tells what is wrong, if anything is.
        planned->is_impossible = true;
        ++method->failures;
        return std::nullopt;
      }
    }
  }
  std::vector<const Tensor*> inputs;
  for (const IValue& tensor : leaves.tensors) inputs.push_back(&tensor.as_tensor());
  const MemoryCharge memory(planned->plan->arena_bytes + planned->plan->scratch_bytes);
  std::unique_ptr<runtime::Workspace> workspace = planned->take();
  const std::vector<Value> results = workspace->run(machine.context(), inputs);
  planned->give_back(std::move(workspace));
  return with_tensors(planned->result, [&](const IValue& value) {
    const Planned::Origin& origin = planned->origins.at(value.identity());
    return origin.is_argument ? leaves.tensors[origin.index] : IValue(results.at(origin.index).tensor());
  });
}

}  // namespace flambeau::planned
