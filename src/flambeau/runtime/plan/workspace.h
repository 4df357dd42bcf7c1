// The memory of one run of a plan, and its steps with their tensors in place. One run at a time; several
// workspaces of one plan run at once.
#pragma once

#include <memory>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/runtime/plan/plan.h"
#include "flambeau/runtime/profile.h"

namespace flambeau::runtime {

class Workspace {
 public:
  // The plan must outlive it.
  explicit Workspace(const Plan& plan);

  // `inputs` are the graph's, of the shapes the plan was made for; those that are no tensor, and those that
  // the plan took as constants, are not looked at. Gives the graph's outputs, in memory of their own.
  // Allocates nothing else.
  std::vector<Value> run(ops::Context& context, std::span<const Tensor* const> inputs,
                         Profile* profile = nullptr);

 private:
  struct Patch {
    Tensor* tensor;
    int64_t offset;  // in elements, from the start of the memory
  };
  void allocate();
  void place(Tensor& tensor);
  void set_storage(size_t buffer, const std::shared_ptr<Storage>& storage, size_t byte_offset);
  void run_step(ops::Context& context, size_t index);

  const Plan& plan_;
  std::shared_ptr<Storage> scratch_;
  std::vector<std::shared_ptr<Storage>> storages_;  // beside the plan's buffers; null for what changes
  std::vector<std::vector<Value>> arguments_;       // beside the plan's steps
  std::vector<std::vector<Tensor>> outputs_;
  std::vector<Value> results_;
  std::vector<size_t> constant_results_;     // these must stay as they are: callers get copies
  std::vector<std::vector<Patch>> patches_;  // beside the plan's buffers
};

}  // namespace flambeau::runtime
