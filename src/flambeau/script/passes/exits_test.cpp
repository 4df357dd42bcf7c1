#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void exits_pass(ir::Graph& graph, Unit& unit) {
  transform_exits(graph, unit);
  eliminate_dead_code(graph);
}
void merge_pass(ir::Graph& graph, Unit& /*unit*/) { merge_consecutive_ifs(graph.block()); }
void with_pass(ir::Graph& graph, Unit& /*unit*/) { add_with_blocks(graph); }

TEST(Exits, AnEarlyReturnSkipsTheRest) {
  EXPECT_EQ(after(exits_pass, R"(graph(%x : Tensor, %c : bool):
  prim::If(%c)
    block0():
      prim::ReturnStmt(%x)
      -> ()
    block1():
      -> ()
  %0 : Tensor = aten::relu(%x)
  prim::ReturnStmt(%0)
  %1 : Tensor = prim::Uninitialized()
  return (%1)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : Tensor = prim::If(%c)
    block0():
      -> (%x)
    block1():
      %1 : Tensor = aten::relu(%x)
      -> (%1)
  return (%0)
)");
}

TEST(Exits, ALoopIsLeftByAReturn) {
  EXPECT_EQ(after(exits_pass, R"(graph(%x : Tensor, %n : int, %c : bool):
  %t : bool = prim::Constant[value=True]()
  prim::Loop(%n, %t)
    block0(%i : int):
      prim::If(%c)
        block0():
          prim::ReturnStmt(%x)
          -> ()
        block1():
          -> ()
      -> (%t)
  %0 : Tensor = aten::relu(%x)
  prim::ReturnStmt(%0)
  %1 : Tensor = prim::Uninitialized()
  return (%1)
)"),
            R"(graph(%x : Tensor, %n : int, %c : bool):
  %0 : Tensor = prim::Uninitialized()
  %1 : bool = prim::Constant[value=True]()
  %2 : bool = prim::Constant[value=False]()
  %t : bool = prim::Constant[value=True]()
  %3 : bool, %4 : Tensor = prim::Loop(%n, %t, %2, %0)
    block0(%i : int, %5 : bool, %6 : Tensor):
      %7 : bool, %8 : Tensor, %9 : bool = prim::If(%c)
        block0():
          -> (%1, %x, %2)
        block1():
          -> (%2, %0, %t)
      -> (%9, %7, %8)
  %10 : Tensor = prim::If(%3)
    block0():
      -> (%4)
    block1():
      %11 : Tensor = aten::relu(%x)
      -> (%11)
  return (%10)
)");
}

TEST(Exits, WhatAlwaysThrowsNeedsNoFlag) {
  EXPECT_EQ(after(exits_pass, R"(graph(%x : Tensor, %m : str, %c : bool):
  %n : NoneType = prim::Constant()
  prim::If(%c)
    block0():
      prim::RaiseException(%m, %n)
      -> ()
    block1():
      -> ()
  prim::ReturnStmt(%x)
  %1 : Tensor = prim::Uninitialized()
  return (%1)
)"),
            R"(graph(%x : Tensor, %m : str, %c : bool):
  %n : NoneType = prim::Constant()
  prim::If(%c)
    block0():
      prim::RaiseException(%m, %n)
      -> ()
    block1():
      -> ()
  return (%x)
)");
}

TEST(Exits, WhatComesBehindAThrowGoes) {
  EXPECT_EQ(after(exits_pass, R"(graph(%x : Tensor, %m : str):
  %n : NoneType = prim::Constant()
  prim::RaiseException(%m, %n)
  %0 : Tensor = aten::relu(%x)
  return (%0)
)"),
            R"(graph(%x : Tensor, %m : str):
  %0 : Tensor = prim::Uninitialized()
  %n : NoneType = prim::Constant()
  prim::RaiseException(%m, %n)
  return (%0)
)");
}

TEST(Exits, AReturnInsideOfAWithLeavesItFirst) {
  EXPECT_EQ(after(exits_pass, R"(graph(%x : Tensor, %w : __torch__.W, %c : bool):
  %e : Tensor = prim::Enter(%w)
  prim::If(%c)
    block0():
      prim::ReturnStmt(%x)
      -> ()
    block1():
      -> ()
  prim::Print(%x)
  %o : Tensor = prim::Exit(%w)
  %0 : Tensor = aten::relu(%x)
  prim::ReturnStmt(%0)
  %1 : Tensor = prim::Uninitialized()
  return (%1)
)"),
            R"(graph(%x : Tensor, %w : __torch__.W, %c : bool):
  %0 : Tensor = prim::Uninitialized()
  %1 : bool = prim::Constant[value=True]()
  %2 : bool = prim::Constant[value=False]()
  %e : Tensor = prim::Enter(%w)
  %3 : bool, %4 : Tensor = prim::If(%c)
    block0():
      -> (%1, %x)
    block1():
      prim::Print(%x)
      -> (%2, %0)
  %o : Tensor = prim::Exit(%w)
  %5 : Tensor = prim::If(%3)
    block0():
      -> (%4)
    block1():
      %6 : Tensor = aten::relu(%x)
      -> (%6)
  return (%5)
)");
}

TEST(MergedIfs, FollowTheBranchThatDecidesThem) {
  EXPECT_EQ(after(merge_pass, R"(graph(%x : Tensor, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %f : bool = prim::Constant[value=False]()
  %0 : bool, %1 : Tensor = prim::If(%c)
    block0():
      %2 : Tensor = aten::relu(%x)
      -> (%t, %2)
    block1():
      -> (%f, %x)
  %r : Tensor = prim::If(%0)
    block0():
      -> (%1)
    block1():
      %3 : Tensor = aten::sigmoid(%1)
      -> (%3)
  return (%r)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %f : bool = prim::Constant[value=False]()
  %0 : bool, %1 : Tensor, %r : Tensor = prim::If(%c)
    block0():
      %2 : Tensor = aten::relu(%x)
      -> (%t, %2, %2)
    block1():
      %3 : Tensor = aten::sigmoid(%x)
      -> (%f, %x, %3)
  return (%r)
)");
}

TEST(MergedIfs, NotWhereTheBranchesAgree) {
  const std::string text = R"(graph(%x : Tensor, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %0 : bool = prim::If(%c)
    block0():
      -> (%t)
    block1():
      -> (%t)
  prim::If(%0)
    block0():
      prim::Print(%x)
      -> ()
    block1():
      -> ()
  return (%x)
)";
  EXPECT_EQ(after(merge_pass, text), text);
}

TEST(MergedIfs, NotWhereSomethingIsBetween) {
  const std::string text = R"(graph(%x : Tensor, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %f : bool = prim::Constant[value=False]()
  %0 : bool = prim::If(%c)
    block0():
      -> (%t)
    block1():
      -> (%f)
  prim::Print(%x)
  prim::If(%0)
    block0():
      prim::Print(%c)
      -> ()
    block1():
      -> ()
  return (%x)
)";
  EXPECT_EQ(after(merge_pass, text), text);
}

TEST(MergedIfs, ManyInARow) {
  EXPECT_EQ(after(merge_pass, R"(graph(%x : Tensor, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %f : bool = prim::Constant[value=False]()
  %0 : bool = prim::If(%c)
    block0():
      -> (%t)
    block1():
      -> (%f)
  %1 : bool = prim::If(%0)
    block0():
      -> (%f)
    block1():
      -> (%t)
  prim::If(%1)
    block0():
      prim::Print(%x)
      -> ()
    block1():
      prim::Print(%c)
      -> ()
  return (%x)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %f : bool = prim::Constant[value=False]()
  %0 : bool, %1 : bool = prim::If(%c)
    block0():
      prim::Print(%c)
      -> (%t, %f)
    block1():
      prim::Print(%x)
      -> (%f, %t)
  return (%x)
)");
}

TEST(WithBlocks, AreAroundWhatIsBetween) {
  EXPECT_EQ(after(with_pass, R"(graph(%x : Tensor, %a : __torch__.W, %b : __torch__.W):
  %e : Tensor = prim::Enter(%a)
  %g : Tensor = prim::Enter(%b)
  prim::Print(%x)
  %h : Tensor = prim::Exit(%b)
  %i : Tensor = prim::Exit(%a)
  return (%x)
)"),
            R"(graph(%x : Tensor, %a : __torch__.W, %b : __torch__.W):
  %e : Tensor = prim::Enter(%a)
  prim::With()
    block0():
      %g : Tensor = prim::Enter(%b)
      prim::With()
        block0():
          prim::Print(%x)
          -> ()
        block1():
          %h : Tensor = prim::Exit(%b)
          -> ()
      -> ()
    block1():
      %i : Tensor = prim::Exit(%a)
      -> ()
  return (%x)
)");
}

}  // namespace
}  // namespace flambeau::script
