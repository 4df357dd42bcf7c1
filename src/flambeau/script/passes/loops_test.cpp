#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void modified_pass(ir::Graph& graph, Unit& unit) { canonicalize_modified_loops(graph, unit); }
void normalize_pass(ir::Graph& graph, Unit& unit) { normalize_operators(graph, unit); }

TEST(ModifiedLoops, CountByThemselves) {
  EXPECT_EQ(after(modified_pass, R"(graph(%x : Tensor, %n : int, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %0 : Tensor = prim::Loop(%n, %t, %x)
    block0(%i : int, %y : Tensor):
      prim::Print(%i)
      %1 : Tensor = aten::relu(%y)
      -> (%c, %1)
  return (%0)
)"),
            R"(graph(%x : Tensor, %n : int, %c : bool):
  %t : bool = prim::Constant[value=True]()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %2 : bool = aten::gt.int(%n, %0)
  %3 : int = prim::Constant[value=9223372036854775807]()
  %4 : Tensor, %5 : int = prim::Loop(%3, %2, %x, %0)
    block0(%6 : int, %y : Tensor, %7 : int):
      prim::Print(%7)
      %8 : Tensor = aten::relu(%y)
      %9 : int = aten::add.int(%7, %1)
      %10 : bool = aten::lt.int(%9, %n)
      %11 : bool = aten::__and__.bool(%10, %c)
      -> (%11, %8, %9)
  return (%4)
)");
}

TEST(ModifiedLoops, AskTheFirstConditionToo) {
  EXPECT_EQ(after(modified_pass, R"(graph(%n : int, %c : bool):
  prim::Loop(%n, %c)
    block0(%i : int):
      -> (%c)
  return (%n)
)"),
            R"(graph(%n : int, %c : bool):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %2 : bool = aten::gt.int(%n, %0)
  %3 : int = prim::Constant[value=9223372036854775807]()
  %4 : bool = aten::__and__.bool(%2, %c)
  %5 : int = prim::Loop(%3, %4, %0)
    block0(%6 : int, %7 : int):
      %8 : int = aten::add.int(%7, %1)
      %9 : bool = aten::lt.int(%8, %n)
      %10 : bool = aten::__and__.bool(%9, %c)
      -> (%10, %8)
  return (%n)
)");
}

TEST(ModifiedLoops, ForLoopsStay) {
  const std::string text = R"(graph(%n : int):
  %t : bool = prim::Constant[value=True]()
  prim::Loop(%n, %t)
    block0(%i : int):
      -> (%t)
  return (%n)
)";
  EXPECT_EQ(after(modified_pass, text), text);
}

TEST(ModifiedLoops, WhileLoopsStay) {
  const std::string text = R"(graph(%n : int, %c : bool):
  %m : int = prim::Constant[value=9223372036854775807]()
  prim::Loop(%m, %c)
    block0(%i : int):
      -> (%c)
  return (%n)
)";
  EXPECT_EQ(after(modified_pass, text), text);
}

TEST(ModifiedLoops, InsideOfAnother) {
  EXPECT_EQ(after(modified_pass, R"(graph(%n : int, %c : bool):
  %t : bool = prim::Constant[value=True]()
  prim::Loop(%n, %t)
    block0(%i : int):
      prim::Loop(%i, %t)
        block0(%j : int):
          -> (%c)
      -> (%t)
  return (%n)
)"),
            R"(graph(%n : int, %c : bool):
  %t : bool = prim::Constant[value=True]()
  prim::Loop(%n, %t)
    block0(%i : int):
      %0 : int = prim::Constant[value=0]()
      %1 : int = prim::Constant[value=1]()
      %2 : bool = aten::gt.int(%i, %0)
      %3 : int = prim::Constant[value=9223372036854775807]()
      %4 : int = prim::Loop(%3, %2, %0)
        block0(%5 : int, %6 : int):
          %7 : int = aten::add.int(%6, %1)
          %8 : bool = aten::lt.int(%7, %i)
          %9 : bool = aten::__and__.bool(%8, %c)
          -> (%9, %7)
      -> (%t)
  return (%n)
)");
}

TEST(Normalized, OtherNames) {
  EXPECT_EQ(after(normalize_pass, R"(graph(%x : Tensor, %y : Tensor):
  %0 : Tensor = aten::divide.Tensor(%x, %y)
  %1 : Tensor = aten::absolute(%0)
  %2 : Tensor = aten::special_expit(%1)
  return (%2)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  %0 : Tensor = aten::div.Tensor(%x, %y)
  %1 : Tensor = aten::abs(%0)
  %2 : Tensor = aten::sigmoid(%1)
  return (%2)
)");
}

TEST(Normalized, TheOverloadThatTakesTheInputs) {
  EXPECT_EQ(after(normalize_pass, R"(graph(%x : Tensor, %y : float):
  %0 : Tensor = aten::multiply.Scalar(%x, %y)
  %1 : Tensor = aten::subtract_.Tensor(%x, %0, %y)
  return (%0)
)"),
            R"(graph(%x : Tensor, %y : float):
  %0 : Tensor = aten::mul.Scalar(%x, %y)
  %1 : Tensor = aten::sub_.Tensor(%x, %0, %y)
  return (%0)
)");
}

TEST(Normalized, SwappedSubtraction) {
  EXPECT_EQ(after(normalize_pass, R"(graph(%x : Tensor, %y : Tensor):
  %a : int = prim::Constant[value=1]()
  %0 : Tensor = aten::rsub.Tensor(%x, %y, %a)
  return (%0)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  %a : int = prim::Constant[value=1]()
  %0 : Tensor = aten::sub.Tensor(%y, %x, %a)
  return (%0)
)");
}

TEST(Normalized, IsOfBooleans) {
  EXPECT_EQ(after(normalize_pass, R"(graph(%a : bool, %b : bool, %x : Tensor, %y : Tensor):
  %0 : bool = aten::__is__(%a, %b)
  %1 : bool = aten::__isnot__(%a, %b)
  %2 : bool = aten::__is__(%x, %y)
  prim::Print(%0, %1, %2)
  return (%0)
)"),
            R"(graph(%a : bool, %b : bool, %x : Tensor, %y : Tensor):
  %0 : bool = aten::eq.bool(%a, %b)
  %1 : bool = aten::ne.bool(%a, %b)
  %2 : bool = aten::__is__(%x, %y)
  prim::Print(%0, %1, %2)
  return (%0)
)");
}

TEST(Normalized, InsideOfBlocks) {
  EXPECT_EQ(after(normalize_pass, R"(graph(%x : Tensor, %c : bool):
  %0 : Tensor = prim::If(%c)
    block0():
      %1 : Tensor = aten::negative(%x)
      -> (%1)
    block1():
      -> (%x)
  return (%0)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : Tensor = prim::If(%c)
    block0():
      %1 : Tensor = aten::neg(%x)
      -> (%1)
    block1():
      -> (%x)
  return (%0)
)");
}

}  // namespace
}  // namespace flambeau::script
