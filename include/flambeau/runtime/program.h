// A program that runs. Holds the exported program, its weights and state; any number of threads may run it at
// once.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/backends/choice.h"
#include "flambeau/base/work.h"
#include "flambeau/graph/interface.h"
#include "flambeau/runtime/profile.h"
#include "flambeau/value/value.h"

namespace flambeau {
class ThreadPool;
}
namespace flambeau::kernels {
class Generator;
}
namespace flambeau::ops {
class Allocator;
class BlockKernels;
class Library;
}  // namespace flambeau::ops

namespace flambeau::runtime {

struct ProgramOptions {
  int threads = 0;  // 0: as many as the machine has cores
  // The operators; null for the built-in ones.
  std::shared_ptr<const ops::Library> library = nullptr;
  // Where the layers of plans come from; null for the best of this build.
  std::shared_ptr<const backends::Backend> backend = nullptr;
  // Plan ahead where shapes allow it; false interprets always.
  bool plan = true;
  // Run a program although conditions on its inputs are in a form nobody here can read: those are not
  // checked, see Program::unknown_guards(). All others are, in any case.
  bool ignore_guards = false;
  // Weights that whoever gave them changes in place while the program exists: no run relies on what they
  // were.
  std::vector<std::string> live_weights = {};
  // Machine code for groups of elementwise operators, which is used where a plan has such a group.
  std::shared_ptr<const ops::BlockKernels> kernels = nullptr;
};

// Bounds of a run. What is 0 or null has no bound.
struct Budget {
  uint64_t steps = 0;  // calls of operators
  uint64_t bytes = 0;  // held at any moment by results and what is computed on the way
  double seconds = 0;
  const std::atomic<bool>* cancel = nullptr;  // set by another thread

  // For a WorkScope around the run, which does not count steps.
  WorkLimits limits() const { return {.cancel = cancel, .seconds = seconds, .bytes = bytes}; }
};

struct RunOptions {
  Budget budget;
  // Filled with the time of each node or step; null for none.
  Profile* profile = nullptr;
  // For operators that draw random numbers; null for the program's own.
  kernels::Generator* generator = nullptr;
  // Where results get their memory; null for the heap.
  ops::Allocator* allocator = nullptr;
};

class Program {
 public:
  // The program must be verified, and have its weights. Throws Error(kUnsupported) that lists the operators
  // nobody knows, and what else cannot be run; and one that lists conditions on its inputs (guards, ranges,
  // sizes) that cannot be read, unless they are to be ignored.
  explicit Program(graph::ExportedProgram program, ProgramOptions options = {});
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  // What it takes and gives, leaf by leaf, and how the leaves are nested.
  const graph::Interface& interface() const;
  const std::vector<graph::Leaf>& inputs() const { return interface().inputs; }
  const std::vector<graph::Leaf>& outputs() const { return interface().outputs; }
  const TreeSpec& in_spec() const { return interface().in_spec; }
  const TreeSpec& out_spec() const { return interface().out_spec; }
  // Conditions on the inputs that are not checked, as nobody here can read them.
  const std::vector<std::string>& unknown_guards() const;

  // The leaves of inputs() in, those of outputs() out: run({x, 0.5}). State (buffers, inputs that the program
  // changes) is updated only when the whole run succeeded. Throws Error(kInvalidArgument) for inputs that do
  // not fit, and what operators throw, located at their node.
  std::vector<Value> run(std::span<const Value> leaves, const RunOptions& options = {});
  std::vector<Value> run(std::initializer_list<Value> leaves, const RunOptions& options = {}) {
    return run(std::span(leaves.begin(), leaves.size()), options);
  }
  // The same with arguments as the model's author called it, run({x}, {{"mask", mask}}); lists and tuples are
  // ValueLists, and so are dicts, whose values stand in the order of the program's keys.
  std::vector<Value> run(std::span<const Value> arguments, const KeywordArguments& keywords,
                         const RunOptions& options = {});
  std::vector<Value> run(std::initializer_list<Value> arguments, const KeywordArguments& keywords,
                         const RunOptions& options = {}) {
    return run(std::span(arguments.begin(), arguments.size()), keywords, options);
  }

  // Makes the plan that runs with such inputs go by, without a run; false where there is none. Throws
  // Error(kInvalidArgument) for inputs that do not fit.
  bool prepare(std::span<const Value> leaves);

  // A parameter, buffer or constant as it is now; undefined when there is none of that name.
  Tensor state(std::string_view name) const;
  // Starts the program's own random numbers over.
  void manual_seed(uint64_t seed);

  const graph::ExportedProgram& exported() const;
  const ops::Library& library() const;
  ThreadPool& pool() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flambeau::runtime
