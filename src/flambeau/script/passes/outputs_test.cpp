#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void outputs_pass(ir::Graph& graph, Unit& /*unit*/) { canonicalize_outputs(graph); }

TEST(Outputs, ComeInTheOrderOfTheirUse) {
  EXPECT_EQ(after(outputs_pass, R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      -> (%x, %y)
    block1():
      -> (%y, %x)
  %2 : Tensor = aten::mul.Tensor(%1, %0)
  return (%2)
)"),
            R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      -> (%y, %x)
    block1():
      -> (%x, %y)
  %2 : Tensor = aten::mul.Tensor(%0, %1)
  return (%2)
)");
}

TEST(Outputs, OfLoopsToo) {
  EXPECT_EQ(after(outputs_pass, R"(graph(%x : Tensor, %n : int):
  %t : bool = prim::Constant[value=True]()
  %0 : Tensor, %1 : int = prim::Loop(%n, %t, %x, %n)
    block0(%i : int, %a : Tensor, %b : int):
      %2 : Tensor = aten::relu(%a)
      %3 : int = aten::add.int(%b, %i)
      -> (%t, %2, %3)
  %4 : (int, Tensor) = prim::TupleConstruct(%1, %0)
  return (%4)
)"),
            R"(graph(%x : Tensor, %n : int):
  %t : bool = prim::Constant[value=True]()
  %0 : int, %1 : Tensor = prim::Loop(%n, %t, %n, %x)
    block0(%i : int, %b : int, %a : Tensor):
      %2 : Tensor = aten::relu(%a)
      %3 : int = aten::add.int(%b, %i)
      -> (%t, %3, %2)
  %4 : (int, Tensor) = prim::TupleConstruct(%0, %1)
  return (%4)
)");
}

TEST(Outputs, WithoutUsesComeLast) {
  EXPECT_EQ(after(outputs_pass, R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor, %2 : Tensor = prim::If(%c)
    block0():
      -> (%x, %y, %x)
    block1():
      -> (%y, %x, %x)
  return (%2)
)"),
            R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor, %2 : Tensor = prim::If(%c)
    block0():
      -> (%x, %x, %y)
    block1():
      -> (%x, %y, %x)
  return (%0)
)");
}

TEST(Outputs, UsesInsideOfBlocksCount) {
  EXPECT_EQ(after(outputs_pass, R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      -> (%x, %y)
    block1():
      -> (%y, %x)
  %2 : Tensor = prim::If(%c)
    block0():
      %3 : Tensor = aten::relu(%1)
      -> (%3)
    block1():
      %4 : Tensor = aten::relu(%0)
      -> (%4)
  return (%2)
)"),
            R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      -> (%y, %x)
    block1():
      -> (%x, %y)
  %2 : Tensor = prim::If(%c)
    block0():
      %3 : Tensor = aten::relu(%0)
      -> (%3)
    block1():
      %4 : Tensor = aten::relu(%1)
      -> (%4)
  return (%2)
)");
}

TEST(Outputs, OneOrderDecidesTheNext) {
  EXPECT_EQ(after(outputs_pass, R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      -> (%x, %y)
    block1():
      -> (%y, %x)
  %2 : Tensor, %3 : Tensor = prim::If(%c)
    block0():
      -> (%0, %1)
    block1():
      -> (%x, %y)
  %4 : Tensor = aten::mul.Tensor(%3, %2)
  return (%4)
)"),
            R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Tensor, %1 : Tensor = prim::If(%c)
    block0():
      -> (%y, %x)
    block1():
      -> (%x, %y)
  %2 : Tensor, %3 : Tensor = prim::If(%c)
    block0():
      -> (%0, %1)
    block1():
      -> (%y, %x)
  %4 : Tensor = aten::mul.Tensor(%2, %3)
  return (%4)
)");
}

}  // namespace
}  // namespace flambeau::script
