// Runs code: frames on a stack of its own, within budgets. A machine is for one thread; it keeps what a run
// of PyTorch's would keep in the process: the generator, the switch for gradients, which warnings were given.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flambeau/interpreter/operators.h"
#include "flambeau/interpreter/prepared.h"
#include "flambeau/interpreter/program.h"
#include "flambeau/interpreter/stack.h"
#include "flambeau/interpreter/traceback.h"
#include "flambeau/ops/mechanism/context.h"

namespace flambeau::interpreter {

// What a script may do to the world around it. Nothing, unless granted.
enum class Capability : uint32_t {
  kFiles = 1U << 0,     // read or write files
  kNetwork = 1U << 1,   // call other machines
  kSeed = 1U << 2,      // seed the machine's generator
  kProfiler = 1U << 3,  // mark regions for a profiler; there is none here, so they are ignored
};

class Flow;

struct MachineOptions {
  uint64_t most_steps = 0;                       // turns of loops, calls, operators; 0 for no bound
  size_t most_depth = 10000;                     // frames at once
  uint64_t most_output = uint64_t{64} << 20;     // bytes that are printed
  uint32_t granted = 0;                          // Capability
  std::function<void(std::string_view)> print;   // a line, with its end; null drops it
  std::function<void(const std::string&)> warn;  // a message; null drops it
  kernels::Generator* generator = nullptr;       // null: drawing random numbers throws
  bool is_grad_enabled = true;                   // what scripts are told that ask
  DType default_dtype = DType::kFloat32;         // of tensors made of floats
  // While tracing: the example's number for one that is not known, where an operator takes no such ones.
  std::function<int64_t(const symbolic::SymInt&)> specialize = {};
  // While tracing a program that keeps blocks: asked where the way is not known.
  Flow* flow = nullptr;
};

class Machine {
 public:
  Machine(std::shared_ptr<const Program> program, ThreadPool& pool, MachineOptions options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Calls a function, or a method with its object as the first argument. Arguments that are left out have
  // their defaults; numbers become the kind that is asked for. Throws Error(kInvalidArgument) for arguments
  // that do not fit, ScriptError for what goes wrong inside.
  using Keywords = std::vector<std::pair<std::string, IValue>>;
  IValue call(const std::shared_ptr<script::Function>& function, std::vector<IValue> positional,
              const Keywords& keywords = {});
  // Throws Error(kNotFound) where the object's class has no such method.
  IValue call_method(const IValue& object, std::string_view method, std::vector<IValue> positional = {},
                     const Keywords& keywords = {});

  const Program& program() const { return *program_; }
  ops::Context& context() { return context_; }
  MachineOptions& options() { return options_; }
  const MachineOptions& options() const { return options_; }

  // ---- for builtins
  bool is_granted(uint32_t needed) const { return (needed & ~options_.granted) == 0; }
  // Throws Error(kUnsafe) that names the call.
  [[noreturn]] void refuse(uint32_t needed, const std::string& name) const;
  // Throws Error(kLimit) beyond most_output.
  void print(std::string_view text);
  // Once for each site.
  void warn(const void* site, const std::string& message);
  bool is_grad_enabled() const { return is_grad_enabled_; }
  void set_grad_enabled(bool value) { is_grad_enabled_ = value; }
  // Runs code to its end from inside of a builtin. Throws Error(kLimit) for too many of them inside of each
  // other.
  IValue run_inside(const Code& code, std::vector<IValue> arguments);
  // An object's method, from inside of a builtin.
  IValue call_inside(const IValue& object, std::string_view method, std::vector<IValue> arguments);

  // Where the run is, outermost first.
  std::vector<TraceFrame> where() const { return trace(0); }

  // Of operators: what this machine keeps for a place in the code.
  PreparedCall& prepared(const OperatorSite& site) {
    if (site.number < prepared_.size() && prepared_[site.number] != nullptr) [[likely]]
      return *prepared_[site.number];
    return prepare(site);
  }

 private:
  struct Frame {
    const Code* code = nullptr;
    IValue* registers = nullptr;
    uint32_t next = 0;           // the instruction to run next
    uint32_t result = 0;         // the caller's register for the value; kNoResult
    bool is_fork = false;        // the value becomes a future
    size_t entered = 0;          // how many objects were entered when it began
    uint32_t stop = UINT32_MAX;  // of a block that runs by itself: its kBlockEnd
  };
  static constexpr uint32_t kNoResult = UINT32_MAX;
  // Runs that are started while another run waits for them: each takes some of the thread's own stack.
  static constexpr int kMostRuns = 64;
  friend class UnknownFlow;

  [[gnu::cold]] PreparedCall& prepare(const OperatorSite& site);
  IValue run(const Code& code, std::vector<IValue> arguments);
  // Until the frame above `bottom` returns.
  IValue run_frames(size_t bottom);
  void push(const Code& code, uint32_t result);
  void pop();
  void count_step() {
    if (--steps_left_ == 0) [[unlikely]]
      refuel();
  }
  void begin_budgets();
  [[gnu::cold]] void refuel();
  // The frame of a function that the instruction calls, with its arguments. `frame` may have moved then.
  void begin_call(const Code& code, const Frame& frame, const Instruction& instruction);
  // The frame of an object's __exit__, for no error.
  void begin_exit(const Code& code, const IValue& object);
  CodeSlot& method_of(MethodSite& site, const IValue& object) const;
  IValue& slot_of(AttributeSite& site, const IValue& object) const;
  // Where the code that keeps blocks goes on (flow.cpp).
  void choose_side(const BranchSite& site, IValue condition);
  void choose_turn(const LoopSite& site, IValue turn, IValue most, IValue condition);
  // A frame for a block, with the variables of the frame that it belongs to; and its run.
  void begin_block(size_t frame, BlockRange block);
  IValue run_above(size_t bottom);
  IValue make_awaitable(const std::shared_ptr<const Code>& code, Call& call);
  // The exception that is being handled, with the frames above `bottom`.
  std::exception_ptr located(size_t bottom) const;
  bool unwind(size_t bottom, const std::exception_ptr& failure);
  std::vector<TraceFrame> trace(size_t bottom) const;

  std::shared_ptr<const Program> program_;
  MachineOptions options_;
  ops::Context context_;
  RegisterStack stack_;
  std::vector<Frame> frames_;
  std::vector<IValue> entered_;  // by `with`, innermost last
  std::vector<std::unique_ptr<PreparedCall>> prepared_;
  std::unordered_set<const void*> warned_;
  uint64_t steps_left_ = 0;  // until somebody looks whether to go on
  uint64_t steps_before_ = 0;
  uint64_t printed_ = 0;
  bool is_grad_enabled_ = true;
  int runs_ = 0;                     // inside of each other
  std::recursive_mutex busy_;        // held while it runs: awaitables may be asked for by another machine
  std::shared_ptr<Machine*> alive_;  // for awaitables, which may outlive it
};

}  // namespace flambeau::interpreter
