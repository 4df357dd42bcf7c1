#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void tuples_pass(ir::Graph& graph, Unit& /*unit*/) { lower_simple_tuples(graph); }
void literals_pass(ir::Graph& graph, Unit& /*unit*/) { erase_list_literals(graph); }
void warnings_pass(ir::Graph& graph, Unit& unit) { annotate_warnings(graph, unit); }

TEST(LowerTuples, UnpackedElementsAreUsedDirectly) {
  EXPECT_EQ(after(tuples_pass, R"(graph(%x : Tensor, %y : Tensor):
  %0 : (Tensor, Tensor) = prim::TupleConstruct(%x, %y)
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%0)
  %1 : Tensor = aten::mul.Tensor(%b, %a)
  return (%1)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  %0 : Tensor = aten::mul.Tensor(%y, %x)
  return (%0)
)");
}

TEST(LowerTuples, IndexedElementsToo) {
  EXPECT_EQ(after(tuples_pass, R"(graph(%x : Tensor, %y : int):
  %i : int = prim::Constant[value=-1]()
  %0 : (Tensor, int) = prim::TupleConstruct(%x, %y)
  %1 : int = prim::TupleIndex(%0, %i)
  return (%1)
)"),
            R"(graph(%x : Tensor, %y : int):
  return (%y)
)");
}

TEST(LowerTuples, AnIndexBeyondTheEndStays) {
  const std::string text = R"(graph(%x : Tensor):
  %i : int = prim::Constant[value=7]()
  %0 : (Tensor) = prim::TupleConstruct(%x)
  %1 : Tensor = prim::TupleIndex(%0, %i)
  return (%1)
)";
  EXPECT_EQ(after(tuples_pass, text), text);
}

TEST(LowerTuples, AnIndexThatIsNotKnownStays) {
  const std::string text = R"(graph(%x : Tensor, %i : int):
  %0 : (Tensor, Tensor) = prim::TupleConstruct(%x, %x)
  %1 : Tensor = prim::TupleIndex(%0, %i)
  return (%1)
)";
  EXPECT_EQ(after(tuples_pass, text), text);
}

TEST(LowerTuples, SlicesAreMadeOfTheElements) {
  EXPECT_EQ(after(tuples_pass, R"(graph(%x : Tensor, %y : int, %z : str):
  %0 : (Tensor, int, str) = prim::TupleConstruct(%x, %y, %z)
  %1 : (int, str) = prim::TupleSlice[begin=1, end=3](%0)
  return (%1)
)"),
            R"(graph(%x : Tensor, %y : int, %z : str):
  %0 : (int, str) = prim::TupleConstruct(%y, %z)
  return (%0)
)");
}

TEST(LowerTuples, TuplesThatAreUsedOtherwiseStay) {
  EXPECT_EQ(after(tuples_pass, R"(graph(%x : Tensor, %c : bool):
  %0 : (Tensor) = prim::TupleConstruct(%x)
  %1 : Tensor = prim::If(%c)
    block0():
      %2 : Tensor = prim::TupleUnpack(%0)
      -> (%2)
    block1():
      -> (%x)
  %3 : ((Tensor), Tensor) = prim::TupleConstruct(%0, %1)
  return (%3)
)"),
            R"(graph(%x : Tensor, %c : bool):
  %0 : (Tensor) = prim::TupleConstruct(%x)
  %1 : Tensor = prim::If(%c)
    block0():
      -> (%x)
    block1():
      -> (%x)
  %2 : ((Tensor), Tensor) = prim::TupleConstruct(%0, %1)
  return (%2)
)");
}

TEST(ListLiterals, AreListsOfTensors) {
  EXPECT_EQ(after(literals_pass, R"(graph(%x : Tensor):
  %0 : Tensor[] = prim::EmptyListLiteral()
  %1 : Tensor[] = aten::append.t(%0, %x)
  return (%0)
)"),
            R"(graph(%x : Tensor):
  %0 : Tensor[] = prim::ListConstruct()
  %1 : Tensor[] = aten::append.t(%0, %x)
  return (%0)
)");
}

TEST(ListLiterals, WithoutUsesGo) {
  EXPECT_EQ(after(literals_pass, R"(graph(%c : bool):
  prim::If(%c)
    block0():
      %0 : Tensor[] = prim::EmptyListLiteral()
      -> ()
    block1():
      -> ()
  return (%c)
)"),
            R"(graph(%c : bool):
  prim::If(%c)
    block0():
      -> ()
    block1():
      -> ()
  return (%c)
)");
}

TEST(Warnings, AreNumbered) {
  EXPECT_EQ(after(warnings_pass, R"(graph(%m : str, %c : bool):
  %n : int = prim::Constant[value=2]()
  aten::warn(%m, %n)
  prim::If(%c)
    block0():
      aten::warn(%m, %n)
      -> ()
    block1():
      -> ()
  return (%c)
)"),
            R"(graph(%m : str, %c : bool):
  %n : int = prim::Constant[value=2]()
  aten::warn[warn_id=0](%m, %n)
  prim::If(%c)
    block0():
      aten::warn[warn_id=1](%m, %n)
      -> ()
    block1():
      -> ()
  return (%c)
)");
}

}  // namespace
}  // namespace flambeau::script
