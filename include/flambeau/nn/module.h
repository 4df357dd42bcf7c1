// A part of a model: parameters, buffers and submodules under names, in the order they were registered. Its
// tensors are ordinary members that the module registers, as a child is:
//
//   class Net : public nn::Layer<Net> {
//    public:
//     Net() { add_module("fc", fc); }
//     Tensor forward(const Tensor& x) { return relu(fc(x)); }
//     nn::Linear fc{10, 20};
//   };
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/nn/tree.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::nn {

class Module;

// A tensor of a module, by its full name ("encoder.layers.0.weight"). The pointer is the module's member.
struct NamedSlot {
  std::string name;
  Tensor* tensor;
  bool is_persistent = true;  // of a buffer: it is part of the state dict
};
struct NamedModule {
  std::string name;  // "" for the module that was asked
  Module* module;
};
using StateDict = std::vector<std::pair<std::string, Tensor>>;
using Keywords = std::vector<std::pair<std::string, Tree>>;  // {{"mask", mask}}

// What load_state_dict could not match.
struct UnmatchedKeys {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

// Whether what is found under several names (tied weights, a module used twice) is listed once or each time.
enum class Shared { kOnce, kEach };

// Two slots that hold the same tensor: same bytes, seen the same way.
bool is_same_tensor(const Tensor& a, const Tensor& b);

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // What the type is called in PyTorch, or in C++ for a module of one's own.
  virtual std::string class_name() const;
  // Of forward(): known to whoever calls with keywords, and to programs made of it.
  virtual std::vector<std::string> argument_names() const;
  // Calls forward(). Throws Error(kInvalidArgument) when the arguments do not fit.
  virtual Tree call(std::span<const Tree> positional, const Keywords& keywords = {}) = 0;
  // The same of any module: (*module)({x, 3}). A layer of a known type is called with C++ values: layer(x,
  // 3).
  Tree operator()(std::initializer_list<Tree> positional, const Keywords& keywords = {}) {
    return call({positional.begin(), positional.size()}, keywords);
  }

  // Dropout and batch normalization do other things when a model is trained. New modules are in training.
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  bool is_training() const { return is_training_; }

  // Own ones first, then those of the submodules, depth first, in the order of registration. What is not
  // there (a bias that was left out) is not listed.
  std::vector<NamedSlot> named_parameters(Shared shared = Shared::kOnce) const;
  std::vector<NamedSlot> named_buffers(Shared shared = Shared::kOnce) const;
  std::vector<NamedModule> named_modules(Shared shared = Shared::kOnce) const;
  // The submodules themselves, without theirs.
  const std::vector<NamedModule>& children() const { return children_; }
  // This module's own, without those of submodules.
  const std::vector<NamedSlot>& own_parameters() const { return parameters_; }
  const std::vector<NamedSlot>& own_buffers() const { return buffers_; }
  // The submodule of that full name; null when there is none.
  Module* find_module(std::string_view name) const;

  // Parameters and persistent buffers by their full names. The tensors share the module's bytes.
  StateDict state_dict() const;
  // Copies values into the parameters and buffers, converting types; with `assign` it takes the tensors
  // themselves, which costs nothing for a mapped file, and leaves those of tied weights apart. Throws
  // Error(kInvalidArgument) that lists every size that differs, and, when `strict`, every key that is missing
  // or unexpected; nothing is changed then.
  UnmatchedKeys load_state_dict(const StateDict& state, bool strict = true, bool assign = false);
  // Of anything that has names and tensors, e.g. Checkpoint::named().
  template <typename Range>
  UnmatchedKeys load_state_dict(const Range& state, bool strict = true, bool assign = false) {
    StateDict copy;
    for (const auto& [name, tensor] : state) copy.emplace_back(name, tensor);
    return load_state_dict(copy, strict, assign);
  }

  Module& requires_grad_(bool on = true);
  // Converts floating-point parameters and buffers; tied weights stay tied.
  Module& to(DType dtype);
  // Submodules first, this module last.
  Module& apply(const std::function<void(Module&)>& visit);

 protected:
  // A name is not empty, has no dot, and is taken once: else Error(kInvalidArgument). The tensor is a member;
  // undefined, it is a parameter that is left out.
  void add_parameter(std::string name, Tensor& slot, bool requires_grad = true);
  void add_buffer(std::string name, Tensor& slot, bool persistent = true);
  void add_module(std::string name, Module& child);

 private:
  void check_name(std::string_view name) const;
  template <typename Visit>
  void walk(const std::string& prefix, const Visit& visit) const;
  std::vector<NamedSlot> named_slots(std::vector<NamedSlot> Module::* list, Shared shared) const;

  bool is_training_ = true;
  std::vector<NamedSlot> parameters_;
  std::vector<NamedSlot> buffers_;
  std::vector<NamedModule> children_;
};

// "Linear" of "torch.nn.modules.linear.Linear" and of "my::Linear".
std::string short_class_name(const Module& module);

}  // namespace flambeau::nn
