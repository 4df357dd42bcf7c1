#include "flambeau/interpreter/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/arguments.h"
#include "flambeau/interpreter/traceback.h"

namespace flambeau::interpreter {
namespace {

// How often the budgets are looked at, in steps.
constexpr uint64_t kStepsBetweenLooks = uint64_t{1} << 15;

std::string_view capability_name(uint32_t needed) {
  switch (static_cast<Capability>(needed & (~needed + 1))) {
    case Capability::kFiles:
      return "read or write files";
    case Capability::kNetwork:
      return "reach other machines";
    case Capability::kSeed:
      return "seed the generator";
    case Capability::kProfiler:
      return "talk to a profiler";
  }
  return "reach the outside";
}

// Which module a call goes to, seen from the caller's own: "layer1.0" for self.layer1.0; empty for itself or
// for what is no path.
std::string path_of_callee(const ir::Node* node) {
  if (node == nullptr || !node->is(ir::NodeKind::kCallMethod) || node->inputs().empty()) return {};
  std::vector<std::string_view> names;
  const ir::Value* value = node->input(0);
  while (value->node()->is(ir::NodeKind::kGetAttr)) {
    names.push_back(value->node()->name);
    value = value->node()->input(0);
  }
  if (!value->node()->is(ir::NodeKind::kParameters)) return {};
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path.empty()) path += '.';
    path += *name;
  }
  return path;
}

}  // namespace

Machine::Machine(std::shared_ptr<const Program> program, ThreadPool& pool, MachineOptions options)
    : program_(std::move(program)),
      options_(std::move(options)),
      context_(program_->library(), pool),
      is_grad_enabled_(options_.is_grad_enabled),
      alive_(std::make_shared<Machine*>(this)) {
  context_.generator = options_.generator;
}

Machine::~Machine() { *alive_ = nullptr; }

IValue Machine::call(const std::shared_ptr<script::Function>& function, std::vector<IValue> positional,
                     const Keywords& keywords) {
  const std::lock_guard lock(busy_);
  std::vector<IValue> arguments =
      bind_arguments(program_->unit(), function->signature(), std::move(positional), keywords);
  return run(program_->code_of(program_->slot_of(function)), std::move(arguments));
}

IValue Machine::call_method(const IValue& object, std::string_view method, std::vector<IValue> positional,
                            const Keywords& keywords) {
  const script::Class& type = *object.as_object().type;
  const std::shared_ptr<script::Function>* const function = type.find_method(method);
  if (function == nullptr) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("{} has no method '{}'", printable(type.qualified_name()), printable(method)));
  }
  positional.insert(positional.begin(), object);
  return call(*function, std::move(positional), keywords);
}

PreparedCall& Machine::prepare(const OperatorSite& site) {
  if (prepared_.size() <= site.number) prepared_.resize(std::max(site.number + 1, prepared_.size() * 2));
  prepared_[site.number] = std::make_unique<PreparedCall>(site);
  return *prepared_[site.number];
}

void Machine::refuse(uint32_t needed, const std::string& name) const {
  const uint32_t missing = needed & ~options_.granted;
  throw Error(ErrorCode::kUnsafe,
              fmt::format("the script calls {}, which may {}", name, capability_name(missing)),
              "grant it if you trust the file");
}

void Machine::print(std::string_view text) {
  printed_ += text.size();
  if (printed_ > options_.most_output) {
    throw Error(ErrorCode::kLimit,
                fmt::format("the script printed more than {} bytes", options_.most_output));
  }
  if (options_.print) options_.print(text);
}

void Machine::warn(const void* site, const std::string& message) {
  if (!warned_.insert(site).second) return;
  printed_ += message.size();
  if (options_.warn && printed_ <= options_.most_output) options_.warn(message);
}

// Each call from outside has all of its budgets, whatever became of the last one.
void Machine::begin_budgets() {
  while (!frames_.empty()) pop();
  entered_.clear();
  printed_ = 0;
  steps_left_ = kStepsBetweenLooks;
  if (options_.most_steps != 0) steps_left_ = std::min(steps_left_, options_.most_steps);
  steps_before_ = steps_left_;
}

void Machine::refuel() {
  poll_work();
  steps_left_ = kStepsBetweenLooks;
  if (options_.most_steps != 0) {
    if (steps_before_ >= options_.most_steps) {
      steps_left_ = 1;
      throw Error(ErrorCode::kLimit, fmt::format("the script took more than {} steps", options_.most_steps),
                  "allow it more steps, if it is not one that never ends");
    }
    steps_left_ = std::min(steps_left_, options_.most_steps - steps_before_);
  }
  steps_before_ += steps_left_;
}

void Machine::push(const Code& code, uint32_t result) {
  if (frames_.size() >= options_.most_depth) {
    throw Error(ErrorCode::kLimit,
                fmt::format("functions call each other more than {} deep", options_.most_depth));
  }
  frames_.push_back({.code = &code,
                     .registers = stack_.push(code.register_count),
                     .result = result,
                     .entered = entered_.size()});
}

void Machine::pop() {
  const Frame& frame = frames_.back();
  stack_.pop(frame.registers, frame.code->register_count);
  frames_.pop_back();
}

IValue Machine::run(const Code& code, std::vector<IValue> arguments) {
  if (arguments.size() != code.argument_count) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} takes {} arguments, {} are given", printable(code.function),
                            code.argument_count, arguments.size()));
  }
  if (runs_ >= kMostRuns) {
    throw Error(
        ErrorCode::kLimit,
        fmt::format("more than {} builtins that call the script stand inside of each other", kMostRuns));
  }
  if (runs_ == 0) begin_budgets();
  const size_t bottom = frames_.size();
  push(code, kNoResult);
  for (size_t i = 0; i < arguments.size(); ++i) frames_.back().registers[i] = std::move(arguments[i]);
  return run_above(bottom);
}

// Of a machine that runs already, too: builtins, contexts and tracing call it from inside.
IValue Machine::run_above(size_t bottom) {
  ++runs_;
  struct Guard {
    int& runs;
    ~Guard() { --runs; }
  } const guard{runs_};
  while (true) {
    std::exception_ptr failure;
    try {
      return run_frames(bottom);
    } catch (...) {
      failure = located(bottom);
    }
    // Outside of the handler, for leaving a `with` runs scripts again.
    if (!unwind(bottom, failure)) std::rethrow_exception(failure);
  }
}

IValue Machine::run_inside(const Code& code, std::vector<IValue> arguments) {
  return run(code, std::move(arguments));
}

IValue Machine::call_inside(const IValue& object, std::string_view method, std::vector<IValue> arguments) {
  const script::Class& type = *object.as_object().type;
  const std::shared_ptr<script::Function>* const function = type.find_method(method);
  if (function == nullptr) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("{} has no method '{}'", printable(type.qualified_name()), printable(method)));
  }
  arguments.insert(arguments.begin(), object);
  return run(program_->code_of(program_->slot_of(*function)), std::move(arguments));
}

std::vector<TraceFrame> Machine::trace(size_t bottom) const {
  std::vector<TraceFrame> trace;
  std::string path;
  for (size_t i = bottom; i < frames_.size(); ++i) {
    // A block that runs by itself is where its function is.
    if (i + 1 < frames_.size() && frames_[i + 1].stop != UINT32_MAX) continue;
    const Frame& frame = frames_[i];
    // The next instruction is the one behind that which failed or called.
    const size_t at = frame.next == 0 ? 0 : frame.next - 1;
    const ir::Node* const node = at < frame.code->nodes.size() ? frame.code->nodes[at] : nullptr;
    add_frames(node, frame.code->function, path, trace);
    const std::string deeper = path_of_callee(node);
    if (!deeper.empty()) path += (path.empty() ? "" : ".") + deeper;
  }
  return trace;
}

std::exception_ptr Machine::located(size_t bottom) const {
  try {
    throw;
  } catch (const ScriptError& error) {
    return std::make_exception_ptr(error.within(trace(bottom)));
  } catch (const RaisedError& error) {
    return std::make_exception_ptr(ScriptError(error, error.exception(), trace(bottom), true));
  } catch (const Error& error) {
    return std::make_exception_ptr(ScriptError(error, {}, trace(bottom)));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (...) {
    return std::current_exception();
  }
  return std::make_exception_ptr(ScriptError(
      Error(ErrorCode::kLimit, "there is no memory for what the script makes"), {}, trace(bottom)));
}

// Takes the frames off that an error left: all above `bottom`, or down to one that was forked, whose future
// the error becomes. True when the run goes on.
bool Machine::unwind(size_t bottom, const std::exception_ptr& failure) {
  size_t down_to = bottom;
  bool is_fork = false;
  for (size_t i = frames_.size(); i > bottom && !is_fork; --i) {
    if (!frames_[i - 1].is_fork) continue;
    is_fork = true;
    down_to = i - 1;
  }
  while (frames_.size() > down_to) {
    const size_t entered = frames_.back().entered;
    while (entered_.size() > entered) {
      const IValue object = std::move(entered_.back());
      entered_.pop_back();
      try {
        call_inside(object, "__exit__", {IValue(), IValue(), IValue()});
      } catch (const Error&) {
        // What went wrong first is what matters.
      }
    }
    if (frames_.size() == down_to + 1 && is_fork) {
      auto* const future = new script::FutureBox(TypeKind::kAny, {});
      future->error = failure;
      IValue value = IValue::adopt(future);
      const uint32_t result = frames_.back().result;
      pop();
      if (result != kNoResult) frames_.back().registers[result] = std::move(value);
      return true;
    }
    pop();
  }
  return false;
}

}  // namespace flambeau::interpreter
