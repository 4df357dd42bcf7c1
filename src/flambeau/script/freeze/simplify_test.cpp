#include "flambeau/script/freeze/simplify.h"

#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void simplify(ir::Graph& graph, Unit&) {
  simplify_nodes(graph);
  eliminate_dead_code(graph);
}

// A function of x whose last value, %r, is what it gives.
std::string graph_of(const std::string& nodes, const std::string& inputs = "%x : Tensor") {
  return "graph(" + inputs + "):\n" + nodes + "  return (%r)\n";
}
std::string simplified(const std::string& nodes, const std::string& inputs = "%x : Tensor") {
  return after(simplify, graph_of(nodes, inputs));
}
// What the simplified graph says of it.
std::string returns(const std::string& value, const std::string& inputs = "%x : Tensor") {
  return "graph(" + inputs + "):\n  return (" + value + ")\n";
}

constexpr char kThree[] =
    "  %one : int = prim::Constant[value=1]()\n"
    "  %two : int = prim::Constant[value=2]()\n"
    "  %list : int[] = prim::ListConstruct(%one, %two)\n";
constexpr char kTwoIsReturned[] =
    "graph(%x : Tensor):\n"
    "  %two : int = prim::Constant[value=2]()\n"
    "  return (%two)\n";

TEST(Simplify, DropoutOutsideOfTrainingGivesItsInput) {
  EXPECT_EQ(simplified("  %p : float = prim::Constant[value=0.5]()\n"
                       "  %t : bool = prim::Constant[value=False]()\n"
                       "  %r : Tensor = aten::dropout(%x, %p, %t)\n"),
            returns("%x"));
}

TEST(Simplify, DropoutInPlaceDoes) {
  EXPECT_EQ(simplified("  %p : float = prim::Constant[value=0.5]()\n"
                       "  %t : bool = prim::Constant[value=False]()\n"
                       "  %y : Tensor = aten::neg(%x)\n"
                       "  %r : Tensor = aten::feature_dropout_(%y, %p, %t)\n"),
            graph_of("  %y : Tensor = aten::neg(%x)\n")
                .replace(graph_of("  %y : Tensor = aten::neg(%x)\n").find("%r"), 2, "%y"));
}

TEST(Simplify, DropoutThatMayTrainStays) {
  const std::string inputs = "%x : Tensor, %t : bool";
  const std::string nodes =
      "  %p : float = prim::Constant[value=0.5]()\n"
      "  %r : Tensor = aten::dropout(%x, %p, %t)\n";
  EXPECT_EQ(simplified(nodes, inputs), graph_of(nodes, inputs));
}

TEST(Simplify, ATensorIsNotNone) {
  EXPECT_EQ(simplified("  %n : NoneType = prim::Constant()\n"
                       "  %r : bool = aten::__isnot__(%x, %n)\n"),
            "graph(%x : Tensor):\n  %0 : bool = prim::Constant[value=True]()\n  return (%0)\n");
  EXPECT_EQ(simplified("  %n : NoneType = prim::Constant()\n"
                       "  %r : bool = aten::__is__(%n, %x)\n"),
            "graph(%x : Tensor):\n  %0 : bool = prim::Constant[value=False]()\n  return (%0)\n");
}

TEST(Simplify, WhatMayBeNoneIsNotKnown) {
  const std::string nodes =
      "  %n : NoneType = prim::Constant()\n"
      "  %r : bool = aten::__is__(%x, %n)\n";
  EXPECT_EQ(simplified(nodes, "%x : Tensor?"), graph_of(nodes, "%x : Tensor?"));
}

TEST(Simplify, CastsToTheSameTypeGo) {
  EXPECT_EQ(simplified("  %r : Tensor = prim::unchecked_cast(%x)\n"), returns("%x"));
  const std::string nodes = "  %r : Tensor = prim::unchecked_cast(%x)\n";
  EXPECT_EQ(simplified(nodes, "%x : Tensor?"), graph_of(nodes, "%x : Tensor?"));
}

TEST(Simplify, ElementsOfListsAreKnown) {
  EXPECT_EQ(simplified(std::string(kThree) + "  %r : int = aten::__getitem__.t(%list, %one)\n"),
            kTwoIsReturned);
}

TEST(Simplify, ElementsFromTheEnd) {
  EXPECT_EQ(simplified(std::string(kThree) + "  %m : int = prim::Constant[value=-1]()\n"
                                             "  %r : int = aten::__getitem__.t(%list, %m)\n"),
            kTwoIsReturned);
}

TEST(Simplify, ElementsThatThereAreNotFailWhenTheyRun) {
  const std::string nodes = std::string(kThree) + "  %r : int = aten::__getitem__.t(%list, %two)\n";
  EXPECT_EQ(simplified(nodes), graph_of(nodes));
}

TEST(Simplify, LengthsOfListsAreKnown) {
  EXPECT_EQ(simplified(std::string(kThree) + "  %r : int = aten::len.t(%list)\n"),
            "graph(%x : Tensor):\n  %0 : int = prim::Constant[value=2]()\n  return (%0)\n");
}

TEST(Simplify, ListsThatAreUnpackedAreTheirElements) {
  EXPECT_EQ(simplified(std::string(kThree) + "  %a : int, %r : int = prim::ListUnpack(%list)\n"),
            kTwoIsReturned);
}

TEST(Simplify, ListsThatSomebodyChangesStay) {
  const std::string nodes = std::string(kThree) +
                            "  %same : int[] = aten::append.t(%list, %one)\n"
                            "  %r : int = aten::len.t(%list)\n";
  EXPECT_EQ(simplified(nodes), graph_of(nodes));
}

}  // namespace
}  // namespace flambeau::script
