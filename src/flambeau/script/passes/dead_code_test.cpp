#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void dce_pass(ir::Graph& graph, Unit& /*unit*/) { eliminate_dead_code(graph); }

TEST(DeadCode, UnusedNodesGo) {
  EXPECT_EQ(after(dce_pass, R"(graph(%x : Tensor):
  %0 : Tensor = aten::relu(%x)
  %1 : Tensor = aten::sigmoid(%0)
  return (%x)
)"),
            R"(graph(%x : Tensor):
  return (%x)
)");
}

TEST(DeadCode, EffectsStay) {
  const std::string text = R"(graph(%x : Tensor, %m : str):
  %0 : Tensor = aten::relu(%x)
  prim::Print(%0)
  %n : int = prim::Constant[value=1]()
  aten::warn(%m, %n)
  %1 : NoneType = prim::Constant()
  prim::RaiseException(%m, %1)
  return (%x)
)";
  EXPECT_EQ(after(dce_pass, text), text);
}

TEST(DeadCode, WritesToArgumentsStay) {
  const std::string text = R"(graph(%x : Tensor, %l : Tensor[], %self : __torch__.M):
  %0 : Tensor = aten::relu_(%x)
  %1 : Tensor[] = aten::append.t(%l, %x)
  prim::SetAttr[name="w"](%self, %x)
  %2 : Tensor = prim::GetAttr[name="b"](%self)
  %3 : Tensor = aten::relu_(%2)
  return (%self)
)";
  EXPECT_EQ(after(dce_pass, text), text);
}

TEST(DeadCode, WritesToWhatNobodySeesGo) {
  EXPECT_EQ(after(dce_pass, R"(graph(%x : Tensor):
  %l : Tensor[] = prim::ListConstruct()
  %0 : Tensor[] = aten::append.t(%l, %x)
  %t : Tensor = aten::relu(%x)
  %1 : Tensor = aten::relu_(%t)
  return (%x)
)"),
            R"(graph(%x : Tensor):
  return (%x)
)");
}

TEST(DeadCode, WritesBeforeAReadStay) {
  EXPECT_EQ(after(dce_pass, R"(graph(%x : Tensor):
  %t : Tensor = aten::relu(%x)
  %0 : Tensor = aten::neg_(%t)
  %1 : Tensor = aten::sigmoid(%t)
  %2 : Tensor = aten::relu_(%t)
  return (%1)
)"),
            R"(graph(%x : Tensor):
  %t : Tensor = aten::relu(%x)
  %0 : Tensor = aten::neg_(%t)
  %1 : Tensor = aten::sigmoid(%t)
  return (%1)
)");
}

TEST(DeadCode, WritesThroughAViewOrAContainerAreSeen) {
  const std::string text = R"(graph(%x : Tensor):
  %d : int = prim::Constant[value=0]()
  %t : Tensor = aten::relu(%x)
  %v : Tensor = aten::unsqueeze(%t, %d)
  %0 : Tensor = aten::neg_(%v)
  %u : Tensor = aten::sigmoid(%x)
  %l : Tensor[] = prim::ListConstruct(%u)
  %1 : Tensor = aten::neg_(%u)
  %2 : (Tensor, Tensor[]) = prim::TupleConstruct(%t, %l)
  return (%2)
)";
  EXPECT_EQ(after(dce_pass, text), text);
}

TEST(DeadCode, OutputsOfBranchesThatNobodyUsesGo) {
  EXPECT_EQ(after(dce_pass, R"(graph(%x : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      %2 : Tensor = aten::relu(%x)
      %3 : Tensor = aten::sigmoid(%x)
      -> (%2, %3)
    block1():
      -> (%x, %x)
  return (%1)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : Tensor = prim::If(%c)
    block0():
      %1 : Tensor = aten::sigmoid(%x)
      -> (%1)
    block1():
      -> (%x)
  return (%0)
)");
}

TEST(DeadCode, LoopsKeepWhatTheNextTurnUses) {
  EXPECT_EQ(after(dce_pass, R"(graph(%x : Tensor, %n : int):
  %t : bool = prim::Constant[value=True]()
  %0 : Tensor, %1 : int, %2 : Tensor = prim::Loop(%n, %t, %x, %n, %x)
    block0(%i : int, %a : Tensor, %b : int, %d : Tensor):
      %3 : Tensor = aten::relu(%a)
      %4 : int = aten::add.int(%i, %i)
      %5 : Tensor = aten::relu(%x)
      -> (%t, %3, %4, %5)
  return (%x)
)"),
            R"(graph(%x : Tensor, %n : int):
  %t : bool = prim::Constant[value=True]()
  %0 : Tensor = prim::Loop(%n, %t, %x)
    block0(%i : int, %a : Tensor):
      %1 : Tensor = aten::relu(%a)
      -> (%t, %1)
  return (%x)
)");
}

TEST(DeadCode, AListThatALoopFillsIsSeenByTheNextTurn) {
  const std::string text = R"(graph(%x : Tensor, %n : int):
  %t : bool = prim::Constant[value=True]()
  %l : Tensor[] = prim::ListConstruct()
  %0 : int = prim::Loop(%n, %t, %n)
    block0(%i : int, %s : int):
      %1 : int = aten::len.t(%l)
      %2 : int = aten::add.int(%s, %1)
      %3 : Tensor[] = aten::append.t(%l, %x)
      -> (%t, %2)
  return (%0)
)";
  EXPECT_EQ(after(dce_pass, text), text);
}

TEST(DeadCode, InputsOfForksThatNobodyUsesGo) {
  EXPECT_EQ(after(dce_pass, R"(graph(%x : Tensor, %y : Tensor):
  %0 : Future(Tensor) = prim::fork(%x, %y)
    graph(%a : Tensor, %b : Tensor):
      return (%b)
  return (%0)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  %0 : Future(Tensor) = prim::fork(%y)
    graph(%b : Tensor):
      return (%b)
  return (%0)
)");
}

}  // namespace
}  // namespace flambeau::script
