// Makes a class with a forward() a module: callable with C++ values, net(x, mask), and with pytrees, as
// whoever exports it does. forward() is one function, not a template; its parameters and its result are what
// tree.h knows. A trailing std::optional may be left out by callers with pytrees.
//
// The names of forward()'s parameters, which C++ does not know, stand beside it:
//   static constexpr std::array kArguments{"x", "mask"};
// As in Python, "*rest" takes the positional arguments that are left, as a std::vector, "**named" the
// keywords that are left, as a std::map; what stands behind "*rest" is given by keyword.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <string>
#include <tuple>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/nn/module.h"
#include "flambeau/nn/session.h"

namespace flambeau::nn {

namespace layer {

template <typename Function>
struct Signature;
template <typename Class, typename R, typename... A>
struct Signature<R (Class::*)(A...)> {
  using Result = std::decay_t<R>;
  using Arguments = std::tuple<std::decay_t<A>...>;
};
template <typename Class, typename R, typename... A>
struct Signature<R (Class::*)(A...) const> : Signature<R (Class::*)(A...)> {};

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

// One tree for each of `names`; missing ones are null.
struct Matched {
  std::vector<const Tree*> trees;
  std::list<Tree> made;  // of "*rest" and "**named"
};
// Throws when the arguments do not fit.
Matched match_arguments(const Module& module, const std::vector<std::string>& names,
                        std::span<const Tree> positional, const Keywords& keywords);
// ((positional...), {keyword: ...})
Tree arguments_tree(std::span<const Tree> positional, const Keywords& keywords);
[[noreturn]] void fail_missing(const Module& module, const std::string& name);
// Runs `convert`; its Error names the argument.
template <typename Convert>
auto at_argument(const Module& module, const std::string& name, Convert&& convert) {
  return with_location("argument '" + name + "' of", short_class_name(module), convert);
}

}  // namespace layer

template <typename Derived>
class Layer : public Module {
 public:
  template <typename... A>
  auto operator()(A&&... arguments) {
    return observe(static_cast<Derived&>(*this), std::forward<A>(arguments)...);
  }
  template <typename... A>
  auto operator()(A&&... arguments) const {
    return observe(static_cast<const Derived&>(*this), std::forward<A>(arguments)...);
  }

  std::vector<std::string> argument_names() const override {
    std::vector<std::string> names;
    if constexpr (requires { Derived::kArguments; }) {
      names.assign(Derived::kArguments.begin(), Derived::kArguments.end());
      static_assert(Derived::kArguments.size() == std::tuple_size_v<Arguments<>>,
                    "kArguments has one name for each parameter of forward()");
    } else {
      constexpr size_t count = std::tuple_size_v<Arguments<>>;
      for (size_t i = 0; i < count; ++i) names.push_back(count == 1 ? "x" : "x" + std::to_string(i));
    }
    return names;
  }

  Tree call(std::span<const Tree> positional, const Keywords& keywords = {}) override {
    using Tuple = Arguments<>;
    const std::vector<std::string> names = argument_names();
    const layer::Matched matched = layer::match_arguments(*this, names, positional, keywords);
    Observer* const observer = nn::observer();
    if (observer != nullptr)
      observer->enter(*this, [&] { return layer::arguments_tree(positional, keywords); });
    Tree result = [&]<size_t... I>(std::index_sequence<I...>) {
      return to_tree(static_cast<Derived&>(*this).forward(
          argument<std::tuple_element_t<I, Tuple>>(names[I], matched.trees[I])...));
    }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
    if (observer != nullptr) observer->leave(*this, [&] { return result; });
    return result;
  }

 private:
  // Templates, because Derived is not complete where this class is.
  template <typename D = Derived>
  using Arguments = typename layer::Signature<decltype(&D::forward)>::Arguments;

  template <typename T>
  T argument(const std::string& name, const Tree* tree) const {
    if (tree != nullptr) return layer::at_argument(*this, name, [&] { return from_tree<T>(*tree); });
    if constexpr (layer::is_optional<T>) {
      return std::nullopt;
    } else {
      layer::fail_missing(*this, name);
    }
  }

  template <typename Self, typename... A>
  static auto observe(Self& self, A&&... arguments) {
    Observer* const observer = nn::observer();
    if (observer == nullptr) return self.forward(std::forward<A>(arguments)...);
    observer->enter(self, [&] {
      return [&]<size_t... I>(std::index_sequence<I...>) {
        const std::array<Tree, sizeof...(A)> trees{
            to_tree(std::tuple_element_t<I, Arguments<>>(arguments))...};
        return layer::arguments_tree(trees, {});
      }(std::index_sequence_for<A...>());
    });
    auto result = self.forward(std::forward<A>(arguments)...);
    observer->leave(self, [&] { return to_tree(result); });
    return result;
  }
};

}  // namespace flambeau::nn
