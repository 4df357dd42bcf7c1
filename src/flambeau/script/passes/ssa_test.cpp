#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void ssa_pass(ir::Graph& graph, Unit& unit) {
  convert_to_ssa(graph, unit);
  eliminate_dead_code(graph);
}

TEST(Stores, OfBranchesBecomeOutputs) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : Tensor, %c : bool):
  prim::Store[name="y"](%x)
  prim::If(%c)
    block0():
      %0 : Tensor = prim::Load[name="y"]()
      %1 : Tensor = aten::relu(%0)
      prim::Store[name="y"](%1)
      -> ()
    block1():
      -> ()
  %2 : Tensor = prim::Load[name="y"]()
  return (%2)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %y : Tensor = prim::If(%c)
    block0():
      %0 : Tensor = aten::relu(%x)
      -> (%0)
    block1():
      -> (%x)
  return (%y)
)");
}

TEST(Stores, OfOneBranchAloneStayInside) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : Tensor, %c : bool):
  prim::If(%c)
    block0():
      prim::Store[name="y"](%x)
      %0 : Tensor = prim::Load[name="y"]()
      prim::Print(%0)
      -> ()
    block1():
      -> ()
  return (%x)
)"),
            R"(graph(%x : Tensor, %c : bool):
  prim::If(%c)
    block0():
      prim::Print(%x)
      -> ()
    block1():
      -> ()
  return (%x)
)");
}

TEST(Stores, OfBothBranchesHaveACommonType) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : Tensor, %c : bool):
  %n : NoneType = prim::Constant()
  prim::If(%c)
    block0():
      prim::Store[name="y"](%x)
      -> ()
    block1():
      prim::Store[name="y"](%n)
      -> ()
  %0 : Tensor? = prim::Load[name="y"]()
  return (%0)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %n : NoneType = prim::Constant()
  %y : Tensor? = prim::If(%c)
    block0():
      -> (%x)
    block1():
      -> (%n)
  return (%y)
)");
}

TEST(Stores, OfLoopsAreCarried) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : Tensor, %n : int):
  prim::Store[name="y"](%x)
  prim::Loop(%n)
    block0(%i : int):
      %0 : Tensor = prim::Load[name="y"]()
      %1 : Tensor = aten::relu(%0)
      prim::Store[name="y"](%1)
      prim::Store[name="inner"](%1)
      -> ()
    block1():
      %2 : bool = prim::Constant[value=True]()
      -> (%2)
  %3 : Tensor = prim::Load[name="y"]()
  return (%3)
)"),
            R"(graph(%x : Tensor, %n : int):
  %0 : bool = prim::Constant[value=True]()
  %y : Tensor = prim::Loop(%n, %0, %x)
    block0(%i : int, %y.1 : Tensor):
      %1 : Tensor = aten::relu(%y.1)
      %2 : bool = prim::Constant[value=True]()
      -> (%2, %1)
  return (%y)
)");
}

TEST(Stores, ConditionsOfLoopsAreAskedTwice) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%n : int):
  %most : int = prim::Constant[value=9223372036854775807]()
  prim::Store[name="k"](%n)
  prim::Loop(%most)
    block0(%i : int):
      %0 : int = prim::Load[name="k"]()
      %1 : int = aten::sub.int(%0, %0)
      prim::Store[name="k"](%1)
      -> ()
    block1():
      %2 : int = prim::Load[name="k"]()
      %3 : bool = aten::Bool.int(%2)
      -> (%3)
  %4 : int = prim::Load[name="k"]()
  return (%4)
)"),
            R"(graph(%n : int):
  %most : int = prim::Constant[value=9223372036854775807]()
  %0 : bool = aten::Bool.int(%n)
  %k : int = prim::Loop(%most, %0, %n)
    block0(%i : int, %k.1 : int):
      %1 : int = aten::sub.int(%k.1, %k.1)
      %2 : bool = aten::Bool.int(%1)
      -> (%2, %1)
  return (%k)
)");
}

TEST(Stores, OfComprehensionsStayInside) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : Tensor, %y : Tensor):
  prim::Store[name="v"](%x)
  prim::ComprehensionScope()
    block0():
      prim::Store[name="v"](%y)
      %0 : Tensor = prim::Load[name="v"]()
      prim::Print(%0)
      -> ()
  %1 : Tensor = prim::Load[name="v"]()
  return (%1)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  prim::Print(%y)
  return (%x)
)");
}

TEST(Stores, MadeUpNamesAreNotKept) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : Tensor, %c : bool):
  prim::If(%c)
    block0():
      prim::Store[name="_1"](%x)
      -> ()
    block1():
      prim::Store[name="_1"](%x)
      -> ()
  %0 : Tensor = prim::Load[name="_1"]()
  return (%0)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : Tensor = prim::If(%c)
    block0():
      -> (%x)
    block1():
      -> (%x)
  return (%0)
)");
}

TEST(Exits, ABreakEndsTheLoop) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : int, %n : int, %c : bool):
  prim::Store[name="y"](%x)
  prim::Loop(%n)
    block0(%i : int):
      prim::Store[name="y"](%i)
      prim::If(%c)
        block0():
          prim::BreakStmt()
          -> ()
        block1():
          -> ()
      prim::Store[name="y"](%n)
      -> ()
    block1():
      %0 : bool = prim::Constant[value=True]()
      -> (%0)
  %1 : int = prim::Load[name="y"]()
  return (%1)
)"),
            R"(graph(%x : int, %n : int, %c : bool):
  %0 : bool = prim::Constant[value=False]()
  %1 : bool = prim::Constant[value=True]()
  %y : int = prim::Loop(%n, %1, %x)
    block0(%i : int, %y.1 : int):
      %2 : bool, %3 : int = prim::If(%c)
        block0():
          -> (%0, %i)
        block1():
          %4 : bool = prim::Constant[value=True]()
          -> (%4, %n)
      -> (%2, %3)
  return (%y)
)");
}

TEST(Exits, AContinueGoesToTheNextTurn) {
  EXPECT_EQ(after(ssa_pass, R"(graph(%x : int, %n : int, %c : bool):
  prim::Loop(%n)
    block0(%i : int):
      prim::If(%c)
        block0():
          prim::ContinueStmt()
          -> ()
        block1():
          -> ()
      prim::Print(%i)
      -> ()
    block1():
      %0 : bool = prim::Constant[value=True]()
      -> (%0)
  return (%x)
)"),
            R"(graph(%x : int, %n : int, %c : bool):
  %0 : bool = prim::Constant[value=True]()
  prim::Loop(%n, %0)
    block0(%i : int):
      %1 : bool = prim::If(%c)
        block0():
          %2 : bool = prim::Constant[value=True]()
          -> (%2)
        block1():
          prim::Print(%i)
          %3 : bool = prim::Constant[value=True]()
          -> (%3)
      -> (%1)
  return (%x)
)");
}

}  // namespace
}  // namespace flambeau::script
