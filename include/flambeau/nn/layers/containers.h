// Modules that hold modules: torch.nn.modules.container. They share ownership, so that one module may stand
// in two places.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/nn/layer.h"

namespace flambeau::nn {

// One after the other; what one gives, the next takes.
class Sequential : public Layer<Sequential> {
 public:
  Sequential() = default;
  // Sequential net{std::make_shared<Linear>(2, 3), std::make_shared<ReLU>()};
  Sequential(std::initializer_list<std::shared_ptr<Module>> modules);
  // The names are the state dict's.
  Sequential(std::initializer_list<std::pair<std::string, std::shared_ptr<Module>>> modules);

  static constexpr std::array kArguments{"input"};
  Tree forward(const Tree& input);
  Tensor operator()(const Tensor& input) { return from_tree<Tensor>(Layer::operator()(to_tree(input))); }
  Tree operator()(const Tree& input) { return Layer::operator()(input); }
  std::string class_name() const override { return "torch.nn.modules.container.Sequential"; }

  void append(std::shared_ptr<Module> module);
  void append(std::string name, std::shared_ptr<Module> module);
  // Makes a module and appends it.
  template <typename T, typename... A>
  T& add(A&&... arguments) {
    auto module = std::make_shared<T>(std::forward<A>(arguments)...);
    append(module);
    return *module;
  }
  template <typename T, typename... A>
  T& add_named(std::string name, A&&... arguments) {
    auto module = std::make_shared<T>(std::forward<A>(arguments)...);
    append(std::move(name), module);
    return *module;
  }

  size_t size() const { return modules_.size(); }
  Module& operator[](size_t index) const { return *modules_.at(index); }

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};

// What has no forward() of its own. Throws Error(kInvalidArgument).
[[noreturn]] void fail_uncallable(const Module& module);

// Modules by number, for the code of a model to go through.
template <typename T = Module>
class ModuleList : public Module {
 public:
  std::string class_name() const override { return "torch.nn.modules.container.ModuleList"; }
  Tree call(std::span<const Tree>, const Keywords&) override { fail_uncallable(*this); }

  void append(std::shared_ptr<T> module) {
    add_module(std::to_string(modules_.size()), *module);
    modules_.push_back(std::move(module));
  }
  template <typename U = T, typename... A>
  U& add(A&&... arguments) {
    auto module = std::make_shared<U>(std::forward<A>(arguments)...);
    append(module);
    return *module;
  }

  size_t size() const { return modules_.size(); }
  T& operator[](size_t index) const { return *modules_.at(index); }
  // Over references to the modules.
  class Iterator {
   public:
    using Inner = typename std::vector<std::shared_ptr<T>>::const_iterator;
    explicit Iterator(Inner inner) : inner_(inner) {}
    T& operator*() const { return **inner_; }
    Iterator& operator++() {
      ++inner_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Inner inner_;
  };
  Iterator begin() const { return Iterator(modules_.begin()); }
  Iterator end() const { return Iterator(modules_.end()); }

 private:
  std::vector<std::shared_ptr<T>> modules_;
};

// Modules by name, in the order they were put in.
template <typename T = Module>
class ModuleDict : public Module {
 public:
  std::string class_name() const override { return "torch.nn.modules.container.ModuleDict"; }
  Tree call(std::span<const Tree>, const Keywords&) override { fail_uncallable(*this); }

  void insert(std::string name, std::shared_ptr<T> module) {
    add_module(name, *module);
    modules_.emplace_back(std::move(name), std::move(module));
  }
  template <typename U = T, typename... A>
  U& add(std::string name, A&&... arguments) {
    auto module = std::make_shared<U>(std::forward<A>(arguments)...);
    insert(std::move(name), module);
    return *module;
  }

  size_t size() const { return modules_.size(); }
  // Null when there is none of that name.
  T* find(std::string_view name) const {
    for (const auto& [key, module] : modules_) {
      if (key == name) return module.get();
    }
    return nullptr;
  }
  const std::vector<std::pair<std::string, std::shared_ptr<T>>>& items() const { return modules_; }

 private:
  std::vector<std::pair<std::string, std::shared_ptr<T>>> modules_;
};

// Parameters by number.
class ParameterList : public Module {
 public:
  std::string class_name() const override { return "torch.nn.modules.container.ParameterList"; }
  Tree call(std::span<const Tree>, const Keywords&) override { fail_uncallable(*this); }

  void append(Tensor parameter);
  size_t size() const { return parameters_.size(); }
  const Tensor& operator[](size_t index) const { return *parameters_.at(index); }

 private:
  std::vector<std::unique_ptr<Tensor>> parameters_;  // each stays where it was registered
};

}  // namespace flambeau::nn
