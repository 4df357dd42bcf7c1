#include "flambeau/script/optimize/optimize.h"

#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void common_pass(ir::Graph& graph, Unit& /*unit*/) { eliminate_common_nodes(graph); }
void tensors_pass(ir::Graph& graph, Unit& unit) { remove_tensor_mutation(graph, unit); }
void lists_pass(ir::Graph& graph, Unit& /*unit*/) {
  remove_list_mutation(graph);
  eliminate_dead_code(graph);
}

TEST(CommonNodes, WhatIsComputedTwiceIsComputedOnce) {
  EXPECT_EQ(after(common_pass, R"(graph(%x : Tensor):
  %1 : Tensor = aten::relu(%x)
  %2 : Tensor = aten::relu(%x)
  %3 : Tensor = aten::mul.Tensor(%1, %2)
  return (%3)
)"),
            R"(graph(%x : Tensor):
  %0 : Tensor = aten::relu(%x)
  %1 : Tensor = aten::mul.Tensor(%0, %0)
  return (%1)
)");
}

TEST(CommonNodes, EqualConstantsAreTheSame) {
  EXPECT_EQ(after(common_pass, R"(graph(%x : Tensor):
  %a : int = prim::Constant[value=1]()
  %b : int = prim::Constant[value=1]()
  %1 : int = aten::size.int(%x, %a)
  %2 : int = aten::size.int(%x, %b)
  %3 : int = aten::mul.int(%1, %2)
  return (%3)
)"),
            R"(graph(%x : Tensor):
  %a : int = prim::Constant[value=1]()
  %b : int = prim::Constant[value=1]()
  %0 : int = aten::size.int(%x, %a)
  %1 : int = aten::mul.int(%0, %0)
  return (%1)
)");
}

TEST(CommonNodes, RandomNumbersAreNotEqual) {
  const std::string text = R"(graph(%x : Tensor):
  %0 : Tensor = aten::bernoulli(%x, %n)
  %1 : Tensor = aten::bernoulli(%x, %n)
  %2 : Tensor = aten::mul.Tensor(%0, %1)
  return (%2)
)";
  const std::string whole =
      std::string(text).replace(text.find("  %0"), 0, "  %n : NoneType = prim::Constant()\n");
  EXPECT_EQ(after(common_pass, whole), whole);
}

TEST(CommonNodes, WhatIsWrittenToStaysApart) {
  const std::string text = R"(graph(%x : Tensor):
  %0 : Tensor = aten::relu(%x)
  %1 : Tensor = aten::relu(%x)
  %2 : Tensor = aten::neg_(%1)
  %3 : Tensor = aten::mul.Tensor(%0, %2)
  return (%3)
)";
  EXPECT_EQ(after(common_pass, text), text);
}

TEST(CommonNodes, InputsThatChangeGiveOtherResults) {
  const std::string text = R"(graph(%x : Tensor):
  %0 : Tensor = aten::relu(%x)
  %1 : Tensor = aten::neg_(%x)
  %2 : Tensor = aten::relu(%x)
  %3 : Tensor = aten::mul.Tensor(%0, %2)
  return (%3)
)";
  EXPECT_EQ(after(common_pass, text), text);
}

TEST(CommonNodes, BranchesKnowWhatCameBefore) {
  EXPECT_EQ(after(common_pass, R"(graph(%x : Tensor, %c : bool):
  %1 : int = aten::dim(%x)
  %2 : int = prim::If(%c)
    block0():
      %3 : int = aten::dim(%x)
      -> (%3)
    block1():
      -> (%1)
  return (%2)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : int = aten::dim(%x)
  %1 : int = prim::If(%c)
    block0():
      -> (%0)
    block1():
      -> (%0)
  return (%1)
)");
}

TEST(RemoveMutation, WhatNobodyElseKnowsIsAResult) {
  EXPECT_EQ(after(tensors_pass, R"(graph(%x : Tensor):
  %1 : Tensor = aten::neg(%x)
  %2 : Tensor = aten::relu_(%1)
  %3 : Tensor = aten::sigmoid_(%1)
  return (%3)
)"),
            R"(graph(%x : Tensor):
  %0 : Tensor = aten::neg(%x)
  %1 : Tensor = aten::relu(%0)
  %2 : Tensor = aten::sigmoid(%1)
  return (%2)
)");
}

TEST(RemoveMutation, ArgumentsAreWrittenTo) {
  const std::string text = R"(graph(%x : Tensor):
  %0 : Tensor = aten::relu_(%x)
  return (%0)
)";
  EXPECT_EQ(after(tensors_pass, text), text);
}

TEST(RemoveMutation, ViewsSeeWhatIsWritten) {
  const std::string text = R"(graph(%x : Tensor):
  %d : int = prim::Constant[value=0]()
  %0 : Tensor = aten::neg(%x)
  %1 : Tensor = aten::select.int(%0, %d, %d)
  %2 : Tensor = aten::relu_(%1)
  return (%0)
)";
  EXPECT_EQ(after(tensors_pass, text), text);
}

TEST(RemoveMutation, ListsAreMadeWhole) {
  EXPECT_EQ(after(lists_pass, R"(graph(%x : Tensor, %y : Tensor):
  %1 : Tensor[] = prim::ListConstruct(%x)
  %2 : Tensor[] = aten::append.t(%1, %y)
  %3 : int = aten::len.t(%1)
  return (%3)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  %0 : Tensor[] = prim::ListConstruct(%x, %y)
  %1 : int = aten::len.t(%0)
  return (%1)
)");
}

TEST(RemoveMutation, ListsThatWereSeenBeforeGrow) {
  const std::string text = R"(graph(%x : Tensor, %y : Tensor):
  %0 : Tensor[] = prim::ListConstruct(%x)
  %1 : int = aten::len.t(%0)
  %2 : Tensor[] = aten::append.t(%0, %y)
  %3 : int = aten::len.t(%0)
  %4 : int = aten::add.int(%1, %3)
  return (%4)
)";
  EXPECT_EQ(after(lists_pass, text), text);
}

}  // namespace
}  // namespace flambeau::script
