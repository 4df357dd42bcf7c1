#include <gtest/gtest.h>

#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void prop_pass(ir::Graph& graph, Unit& unit) { propagate_constants(graph, unit, evaluate_operator); }
void pool_pass(ir::Graph& graph, Unit& /*unit*/) { pool_constants(graph); }

TEST(Constants, AreComputed) {
  EXPECT_EQ(after(prop_pass, R"(graph():
  %0 : int = prim::Constant[value=2]()
  %1 : int = prim::Constant[value=3]()
  %2 : int = aten::mul.int(%0, %1)
  %3 : int = aten::sub.int(%2, %0)
  %4 : bool = aten::lt.int(%3, %1)
  %5 : (int, bool) = prim::TupleConstruct(%3, %4)
  return (%5)
)"),
            R"(graph():
  %0 : (int, bool) = prim::Constant[value=(4, False)]()
  return (%0)
)");
}

TEST(Constants, OfCodeThatNamesThem) {
  EXPECT_EQ(after(prop_pass, R"(graph():
  %0 : str = prim::Constant[value="cuda:1"]()
  %1 : Device = aten::device(%0)
  %2 : float = prim::Constant[value=2.5]()
  %3 : complex = prim::Constant[value=complex(0., 3.)]()
  %4 : complex = aten::add.float_complex(%2, %3)
  %5 : (Device, complex) = prim::TupleConstruct(%1, %4)
  return (%5)
)"),
            R"(graph():
  %0 : (Device, complex) = prim::Constant[value=(device("cuda:1"), complex(2.5, 3.))]()
  return (%0)
)");
}

TEST(Constants, ListsAndTensorsAreMadeAnew) {
  const std::string text = R"(graph():
  %0 : int = prim::Constant[value=2]()
  %1 : int[] = prim::ListConstruct(%0)
  %2 : int = aten::len.t(%1)
  return (%2)
)";
  EXPECT_EQ(after(prop_pass, text), text);
}

TEST(Constants, WhatFailsStays) {
  const std::string text = R"(graph():
  %0 : str = prim::Constant[value="no such device"]()
  %1 : Device = aten::device(%0)
  return (%1)
)";
  EXPECT_EQ(after(prop_pass, text), text);
}

TEST(Constants, DecideBranches) {
  EXPECT_EQ(after(prop_pass, R"(graph(%x : Tensor):
  %0 : bool = prim::Constant[value=False]()
  %1 : Tensor = prim::If(%0)
    block0():
      prim::Print(%x)
      -> (%x)
    block1():
      %2 : Tensor = aten::relu(%x)
      -> (%2)
  return (%1)
)"),
            R"(graph(%x : Tensor):
  %0 : Tensor = aten::relu(%x)
  return (%0)
)");
}

TEST(Constants, BranchesThatGiveTheSame) {
  EXPECT_EQ(after(prop_pass, R"(graph(%x : Tensor, %c : bool):
  %0 : int = prim::Constant[value=1]()
  %1 : Tensor, %2 : int, %3 : int = prim::If(%c)
    block0():
      %4 : int = prim::Constant[value=1]()
      -> (%x, %4, %0)
    block1():
      %5 : int = prim::Constant[value=2]()
      -> (%x, %0, %5)
  %6 : (Tensor, int, int) = prim::TupleConstruct(%1, %2, %3)
  return (%6)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : int = prim::Constant[value=1]()
  %1 : int = prim::Constant[value=1]()
  %2 : int = prim::If(%c)
    block0():
      -> (%0)
    block1():
      %3 : int = prim::Constant[value=2]()
      -> (%3)
  %4 : (Tensor, int, int) = prim::TupleConstruct(%x, %1, %2)
  return (%4)
)");
}

TEST(Constants, LoopsThatNeverRun) {
  EXPECT_EQ(after(prop_pass, R"(graph(%x : Tensor):
  %0 : int = prim::Constant[value=0]()
  %1 : bool = prim::Constant[value=True]()
  %2 : Tensor = prim::Loop(%0, %1, %x)
    block0(%i : int, %y : Tensor):
      %3 : Tensor = aten::relu(%y)
      -> (%1, %3)
  return (%2)
)"),
            R"(graph(%x : Tensor):
  return (%x)
)");
}

TEST(Constants, WhatALoopDoesNotChange) {
  EXPECT_EQ(after(prop_pass, R"(graph(%x : Tensor, %n : int):
  %1 : bool = prim::Constant[value=True]()
  %2 : Tensor, %3 : int = prim::Loop(%n, %1, %x, %n)
    block0(%i : int, %y : Tensor, %k : int):
      %4 : Tensor = aten::relu(%y)
      prim::Print(%k)
      -> (%1, %4, %k)
  %5 : (Tensor, int) = prim::TupleConstruct(%2, %3)
  return (%5)
)"),
            R"(graph(%x : Tensor, %n : int):
  %0 : bool = prim::Constant[value=True]()
  %1 : Tensor = prim::Loop(%n, %0, %x)
    block0(%i : int, %y : Tensor):
      %2 : Tensor = aten::relu(%y)
      prim::Print(%n)
      -> (%0, %2)
  %3 : (Tensor, int) = prim::TupleConstruct(%1, %n)
  return (%3)
)");
}

TEST(Constants, TuplesAndTypesOfConstants) {
  EXPECT_EQ(after(prop_pass, R"(graph():
  %0 : int = prim::Constant[value=2]()
  %1 : str = prim::Constant[value="a"]()
  %2 : (int, str) = prim::TupleConstruct(%0, %1)
  %3 : int, %4 : str = prim::TupleUnpack(%2)
  %5 : bool = prim::isinstance[types=[str, float]](%4)
  %6 : (int) = prim::TupleSlice[begin=0, end=1](%2)
  %7 : (int, bool, (int)) = prim::TupleConstruct(%3, %5, %6)
  return (%7)
)"),
            R"(graph():
  %0 : (int, bool, (int)) = prim::Constant[value=(2, True, (2,))]()
  return (%0)
)");
}

TEST(Pooling, EqualConstantsAreOne) {
  EXPECT_EQ(after(pool_pass, R"(graph(%c : bool):
  %0 : int = prim::Constant[value=1]()
  %1 : int = prim::If(%c)
    block0():
      %2 : int = prim::Constant[value=1]()
      -> (%2)
    block1():
      %3 : int = prim::Constant[value=2]()
      -> (%3)
  return (%1)
)"),
            R"(graph(%c : bool):
  %0 : int = prim::Constant[value=2]()
  %1 : int = prim::Constant[value=1]()
  %2 : int = prim::If(%c)
    block0():
      -> (%1)
    block1():
      -> (%0)
  return (%2)
)");
}

TEST(Pooling, OfDifferentTypesOrSignsAreNot) {
  EXPECT_EQ(after(pool_pass, R"(graph():
  %0 : float = prim::Constant[value=0.]()
  %1 : float = prim::Constant[value=-0.]()
  %2 : int = prim::Constant[value=0]()
  %3 : bool = prim::Constant[value=False]()
  %4 : NoneType = prim::Constant()
  %5 : Tensor? = prim::Constant()
  %6 : float = prim::Constant[value=0.]()
  prim::Print(%0, %1, %2, %3, %4, %5, %6)
  return (%6)
)"),
            R"(graph():
  %0 : Tensor? = prim::Constant()
  %1 : NoneType = prim::Constant()
  %2 : bool = prim::Constant[value=False]()
  %3 : int = prim::Constant[value=0]()
  %4 : float = prim::Constant[value=-0.]()
  %5 : float = prim::Constant[value=0.]()
  prim::Print(%5, %4, %3, %2, %1, %0, %5)
  return (%5)
)");
}

TEST(Pooling, TuplesAndStringsByWhatTheyHold) {
  EXPECT_EQ(after(pool_pass, R"(graph():
  %0 : (str, int) = prim::Constant[value=("a", 1)]()
  %1 : (str, int) = prim::Constant[value=("a", 1)]()
  %2 : (str, int) = prim::Constant[value=("a1", 1)]()
  %3 : str = prim::Constant[value="a"]()
  %4 : str = prim::Constant[value="a"]()
  prim::Print(%0, %1, %2, %3, %4)
  return (%3)
)"),
            R"(graph():
  %0 : str = prim::Constant[value="a"]()
  %1 : (str, int) = prim::Constant[value=("a1", 1)]()
  %2 : (str, int) = prim::Constant[value=("a", 1)]()
  prim::Print(%2, %2, %1, %0, %0)
  return (%0)
)");
}

TEST(Pooling, EqualListsAreOne) {
  EXPECT_EQ(after(pool_pass, R"(graph():
  %0 : int[] = prim::Constant[value=[1]]()
  %1 : int[] = prim::Constant[value=[1]]()
  prim::Print(%0, %1)
  return (%0)
)"),
            R"(graph():
  %0 : int[] = prim::Constant[value=[1]]()
  prim::Print(%0, %0)
  return (%0)
)");
}

TEST(Pooling, ListsThatAreReturnedStayTwo) {
  EXPECT_EQ(after(pool_pass, R"(graph():
  %0 : int[] = prim::Constant[value=[1]]()
  %1 : int[] = prim::Constant[value=[1]]()
  return (%0, %1)
)"),
            R"(graph():
  %0 : int[] = prim::Constant[value=[1]]()
  %1 : int[] = prim::Constant[value=[1]]()
  return (%0, %1)
)");
}

TEST(Pooling, FunctionsByName) {
  EXPECT_EQ(after(pool_pass, R"(graph(%x : Tensor):
  %0 : Tensor = prim::Constant[name="__torch__.f"]()
  %1 : Tensor = prim::CallFunction(%0, %x)
  %2 : Tensor = prim::Constant[name="__torch__.f"]()
  %3 : Tensor = prim::CallFunction(%2, %1)
  return (%3)
)"),
            R"(graph(%x : Tensor):
  %0 : Tensor = prim::Constant[name="__torch__.f"]()
  %1 : Tensor = prim::CallFunction(%0, %x)
  %2 : Tensor = prim::CallFunction(%0, %1)
  return (%2)
)");
}

}  // namespace
}  // namespace flambeau::script
