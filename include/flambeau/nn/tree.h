// What modules take and give, as PyTorch's pytrees: values in nested containers. TreeOf<T> says how a C++
// type is one; specialize it for a struct of yours.
//
//   Tensor             a leaf; an undefined one is None
//   std::optional<T>   T, or None, which is a leaf too
//   numbers, bool, std::string, SymInt            leaves
//   std::vector<T>                                a list
//   std::tuple, std::pair, std::array             a tuple
//   std::map<std::string, T>                      a dict, in the order of its keys; also with int64_t
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "flambeau/archive/json/json.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/value.h"

namespace flambeau::nn {

template <typename T>
struct TreeOf;
template <typename T>
concept HasTree = requires(const T& value, std::vector<Value>& leaves) { TreeOf<T>::flatten(value, leaves); };

struct Tree {
  TreeSpec spec;
  std::vector<Value> leaves = {Value()};

  Tree() = default;  // None
  Tree(TreeSpec its_spec, std::vector<Value> its_leaves)
      : spec(std::move(its_spec)), leaves(std::move(its_leaves)) {}
  template <typename T>
    requires(!std::is_same_v<T, Tree> && HasTree<T>)
  Tree(const T& value) {  // NOLINT(google-explicit-constructor): what it knows is a tree
    leaves.clear();
    spec = TreeOf<T>::flatten(value, leaves);
  }
  Tree(const char* text) : Tree(leaf(text)) {}  // NOLINT(google-explicit-constructor)

  static Tree leaf(Value value);
  static Tree tuple(std::span<const Tree> children);
  static Tree list(std::span<const Tree> children);
  static Tree dict(std::span<const std::pair<std::string, Tree>> children);

  // The parts of a container, each with its leaves.
  std::vector<Tree> children() const;
};

// Goes through the leaves of a tree from left to right.
class LeafReader {
 public:
  explicit LeafReader(std::span<const Value> leaves) : leaves_(leaves) {}
  // Throws Error(kInvalidArgument) where the spec is no leaf.
  const Value& next(const TreeSpec& spec, std::string_view wanted);
  // The next ones as many as the spec has.
  std::span<const Value> take(const TreeSpec& spec);

 private:
  std::span<const Value> leaves_;
};

// For types that are none of the above: what was wanted, and what the tree is.
[[noreturn]] void fail_tree(std::string_view wanted, const TreeSpec& spec);
[[noreturn]] void fail_leaf(std::string_view wanted, const Value& value);
// Throws unless the spec is such a container with that many children (any number when negative).
void check_tree(const TreeSpec& spec, TreeKind kind, std::string_view name, int64_t count = -1);

template <>
struct TreeOf<Tensor> {
  static TreeSpec flatten(const Tensor& tensor, std::vector<Value>& leaves);
  static Tensor unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<SymInt> {
  static TreeSpec flatten(const SymInt& number, std::vector<Value>& leaves);
  static SymInt unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<int64_t> {
  static TreeSpec flatten(int64_t number, std::vector<Value>& leaves);
  static int64_t unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<int> {
  static TreeSpec flatten(int number, std::vector<Value>& leaves);
  static int unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<double> {
  static TreeSpec flatten(double number, std::vector<Value>& leaves);
  static double unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<bool> {
  static TreeSpec flatten(bool flag, std::vector<Value>& leaves);
  static bool unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<std::string> {
  static TreeSpec flatten(const std::string& text, std::vector<Value>& leaves);
  static std::string unflatten(const TreeSpec& spec, LeafReader& leaves);
};
template <>
struct TreeOf<Tree> {
  static TreeSpec flatten(const Tree& tree, std::vector<Value>& leaves);
  static Tree unflatten(const TreeSpec& spec, LeafReader& leaves);
};

template <typename T>
struct TreeOf<std::optional<T>> {
  static TreeSpec flatten(const std::optional<T>& value, std::vector<Value>& leaves) {
    if (value) return TreeOf<T>::flatten(*value, leaves);
    leaves.emplace_back();
    return {};
  }
  static std::optional<T> unflatten(const TreeSpec& spec, LeafReader& leaves) {
    if (LeafReader ahead = leaves; spec.is_leaf() && ahead.next(spec, "a value").is_none()) {
      leaves = ahead;
      return std::nullopt;
    }
    return TreeOf<T>::unflatten(spec, leaves);
  }
};

template <typename T>
struct TreeOf<std::vector<T>> {
  static TreeSpec flatten(const std::vector<T>& values, std::vector<Value>& leaves) {
    std::vector<TreeSpec> children;
    for (const auto& value : values) children.push_back(TreeOf<T>::flatten(value, leaves));
    return TreeSpec::list(std::move(children));
  }
  static std::vector<T> unflatten(const TreeSpec& spec, LeafReader& leaves) {
    check_tree(spec, TreeKind::kList, "a list");
    std::vector<T> values;
    for (const TreeSpec& child : spec.children()) values.push_back(TreeOf<T>::unflatten(child, leaves));
    return values;
  }
};

// std::tuple, std::pair and std::array, which get<I>() takes apart.
template <typename Tuple>
struct TreeOfTuple {
  static constexpr size_t kSize = std::tuple_size_v<Tuple>;

  static TreeSpec flatten(const Tuple& values, std::vector<Value>& leaves) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return TreeSpec::tuple(
          {TreeOf<std::tuple_element_t<I, Tuple>>::flatten(std::get<I>(values), leaves)...});
    }(std::make_index_sequence<kSize>());
  }
  static Tuple unflatten(const TreeSpec& spec, LeafReader& leaves) {
    check_tree(spec, TreeKind::kTuple, "a tuple", kSize);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      // Braces: the elements are made from left to right.
      return Tuple{TreeOf<std::tuple_element_t<I, Tuple>>::unflatten(spec.children()[I], leaves)...};
    }(std::make_index_sequence<kSize>());
  }
};
template <typename... T>
struct TreeOf<std::tuple<T...>> : TreeOfTuple<std::tuple<T...>> {};
template <typename A, typename B>
struct TreeOf<std::pair<A, B>> : TreeOfTuple<std::pair<A, B>> {};
template <typename T, size_t N>
struct TreeOf<std::array<T, N>> : TreeOfTuple<std::array<T, N>> {};

template <typename Key, typename T>
struct TreeOf<std::map<Key, T>> {
  static_assert(std::is_same_v<Key, std::string> || std::is_same_v<Key, int64_t>);
  static TreeSpec flatten(const std::map<Key, T>& values, std::vector<Value>& leaves) {
    json::Array keys;
    std::vector<TreeSpec> children;
    for (const auto& [key, value] : values) {
      keys.emplace_back(key);
      children.push_back(TreeOf<T>::flatten(value, leaves));
    }
    return TreeSpec::dict(keys, std::move(children));
  }
  static std::map<Key, T> unflatten(const TreeSpec& spec, LeafReader& leaves) {
    check_tree(spec, TreeKind::kDict, "a dict");
    std::map<Key, T> values;
    for (size_t i = 0; i < spec.children().size(); ++i) {
      T value = TreeOf<T>::unflatten(spec.children()[i], leaves);
      if constexpr (std::is_same_v<Key, std::string>) {
        values.emplace(spec.keys()[i].as_string(), std::move(value));
      } else {
        values.emplace(spec.keys()[i].as_int(), std::move(value));
      }
    }
    return values;
  }
};

template <typename T>
Tree to_tree(const T& value) {
  return value;
}

// Throws Error(kInvalidArgument) that says what was wanted and what the tree is.
template <typename T>
T from_tree(const Tree& tree) {
  if constexpr (std::is_same_v<T, Tree>) {
    return tree;
  } else {
    LeafReader leaves(tree.leaves);
    return TreeOf<T>::unflatten(tree.spec, leaves);
  }
}

}  // namespace flambeau::nn
