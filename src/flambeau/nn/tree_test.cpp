#include "flambeau/nn/tree.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::nn {
namespace {

template <typename T>
void expect_round_trip(const T& value, const std::string& spec) {
  const Tree tree = to_tree(value);
  EXPECT_EQ(tree.spec.to_string(), spec);
  EXPECT_EQ(tree.leaves.size(), tree.spec.num_leaves());
  EXPECT_EQ(from_tree<T>(tree), value);
}

template <typename T>
std::string refusal(const Tree& tree) {
  try {
    from_tree<T>(tree);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Tree, KnowsPlainTypes) {
  expect_round_trip(int64_t{3}, "*");
  expect_round_trip(2.5, "*");
  expect_round_trip(true, "*");
  expect_round_trip(std::string("mode"), "*");
  expect_round_trip(std::optional<double>(1.5), "*");
  expect_round_trip(std::optional<double>(), "*");
  expect_round_trip(SymInt(4), "*");
}

TEST(Tree, KnowsContainers) {
  expect_round_trip(std::vector<int64_t>{1, 2}, "[*, *]");
  expect_round_trip(std::vector<int64_t>{}, "[]");
  expect_round_trip(std::tuple<int64_t, double>{1, 2.0}, "(*, *)");
  expect_round_trip(std::tuple<int64_t>{1}, "(*,)");
  expect_round_trip(std::pair<int64_t, std::vector<bool>>{1, {true, false}}, "(*, [*, *])");
  expect_round_trip(std::array<int64_t, 3>{1, 2, 3}, "(*, *, *)");
  expect_round_trip(std::map<std::string, int64_t>{{"a", 1}, {"b", 2}}, "{'a': *, 'b': *}");
  expect_round_trip(std::vector<std::optional<std::pair<int64_t, int64_t>>>{std::nullopt, std::pair{1, 2}},
                    "[*, (*, *)]");
}

TEST(Tree, ANoneIsALeaf) {
  const Tree tree = to_tree(std::pair<Tensor, std::optional<Tensor>>());
  EXPECT_EQ(tree.spec.to_string(), "(*, *)");
  EXPECT_TRUE(tree.leaves[0].is_none());
  EXPECT_TRUE(tree.leaves[1].is_none());
}

TEST(Tree, TakesAnIntegerForAFloat) { EXPECT_EQ(from_tree<double>(to_tree(int64_t{2})), 2.0); }

TEST(Tree, HoldsTrees) {
  const Tree inner = to_tree(std::vector<int64_t>{1, 2});
  const Tree outer = Tree::tuple(std::array{inner, Tree::leaf(true)});
  EXPECT_EQ(outer.spec.to_string(), "([*, *], *)");
  const auto parts = from_tree<std::tuple<Tree, bool>>(outer);
  EXPECT_EQ(from_tree<std::vector<int64_t>>(std::get<0>(parts)), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(outer.children().at(0).leaves.size(), 2U);
}

TEST(Tree, SaysWhatItIsInstead) {
  EXPECT_EQ(refusal<Tensor>(to_tree(int64_t{3})), "expected a Tensor, found int 3");
  EXPECT_EQ(refusal<Tensor>(Tree()), "expected a Tensor, found None");
  EXPECT_EQ(refusal<int64_t>(to_tree(std::vector<int64_t>{1})), "expected an int, found [*]");
  EXPECT_EQ((refusal<std::pair<int64_t, int64_t>>(to_tree(std::tuple<int64_t>{1}))),
            "expected a tuple of 2, found (*,)");
  EXPECT_EQ(refusal<std::vector<int64_t>>(to_tree(std::tuple<int64_t>{1})), "expected a list, found (*,)");
  EXPECT_EQ(refusal<bool>(to_tree(1.5)), "expected a bool, found float 1.5");
}

}  // namespace
}  // namespace flambeau::nn
