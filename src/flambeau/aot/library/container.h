// A compiled model as PyTorch's loader holds it: runs with tensors of PyTorch, from any number of threads at
// once; its constants can be exchanged meanwhile.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/aot/library/constants.h"
#include "flambeau/aot/library/source.h"
#include "flambeau/aot/library/tensors.h"
#include "flambeau/runtime/program.h"

namespace flambeau::aot {

// A constant by name, as callers give new ones.
using NamedHandles = std::vector<std::pair<std::string, HostTensor*>>;

enum class Values : uint8_t { kCopied, kShared };  // kShared: the caller changes them in place

class Container {
 public:
  // Throws what find_source() throws, and verifying and making a program.
  explicit Container(const std::string& folder);

  const Constants& constants() const { return constants_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::string& in_spec() const { return in_spec_; }
  const std::string& out_spec() const { return out_spec_; }

  // Takes the inputs, whatever happens. Throws Error(kInvalidArgument) for inputs that do not fit, and what a
  // run throws; `outputs` are untouched then.
  void run(std::vector<HostTensorPointer> inputs, std::vector<HostTensorPointer>& outputs);

  // Which of the two sets of constants. Runs use the active one; whoever is in a run ends it with the set
  // that was active as it began.
  enum class Which : uint8_t { kActive, kInactive };

  // Throws Error(kInvalidArgument) for unknown names, other types or sizes, and, where all must be there, for
  // those left out; nothing has changed then. What is left out of a new inactive set is that of the active
  // one.
  void update(const NamedHandles& values, Which which, Values kind, bool must_be_all);
  void update_from_blob(const uint8_t* blob);
  // Throws Error(kInvalidArgument) when there is no inactive set.
  void swap();
  void free_inactive();
  // Copies, by name.
  std::vector<std::pair<std::string, HostTensorPointer>> copies(Which which) const;

 private:
  // A set of constants, and the program that has them.
  struct Model {
    explicit Model(Source source, std::vector<std::string> live = {});
    std::shared_ptr<const ops::BlockKernels> kernels;
    runtime::Program program;
    // By constant: what is the caller's, null for others.
    std::vector<std::shared_ptr<HostTensor>> shared;
  };
  explicit Container(std::shared_ptr<Model> model);

  std::shared_ptr<Model> get(Which which) const;
  std::shared_ptr<Model> with(const Model& old, const std::vector<std::pair<size_t, Tensor>>& values,
                              std::vector<std::shared_ptr<HostTensor>> shared) const;
  void put(Which which, std::shared_ptr<Model> model);

  mutable std::mutex mutex_;  // of the two
  std::mutex update_mutex_;   // one update after the other
  std::shared_ptr<Model> active_;
  std::shared_ptr<Model> inactive_;

  Constants constants_;
  std::vector<size_t> input_leaves_;  // those that are tensors
  std::vector<Value> leaves_;         // the others, which are what they are
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  DType output_dtype_ = DType::kFloat32;  // of the first tensor
  std::string in_spec_;
  std::string out_spec_;
};

}  // namespace flambeau::aot
