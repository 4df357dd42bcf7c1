#include "flambeau/script/ir/text.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {
namespace {

void expect_round_trip(const std::string& text) {
  const SchemaTable table;
  const std::shared_ptr<Graph> graph = parse_graph(text, table);
  EXPECT_EQ(to_text(*graph), text);
  EXPECT_EQ(to_text(*graph->copy()), text);
}

std::string error_of(std::string_view text) {
  const SchemaTable table;
  try {
    parse_graph(text, table);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(GraphText, NodesAndBlocks) {
  expect_round_trip(R"(graph(%x.1 : Tensor, %c : bool):
  %0 : int = prim::Constant[value=1]()
  %y : Tensor = prim::If(%c)
    block0():
      %1 : Tensor = aten::add.Tensor(%x.1, %x.1, %0)
      -> (%1)
    block1():
      -> (%x.1)
  %2 : Tensor, %3 : Tensor = aten::max.dim(%y, %0, %c)
  return (%y)
)");
}

TEST(GraphText, Loops) {
  const SchemaTable table;
  const std::string text = R"(graph(%n : int, %x : int[]):
  %0 : bool = prim::Constant[value=True]()
  %1 : int = prim::Loop(%n, %0, %n)
    block0(%i : int, %2 : int):
      %3 : int = aten::add.int(%i, %2)
      -> (%0, %3)
  return (%1)
)";
  expect_round_trip(text);
  parse_graph(text, table)->check();
}

TEST(GraphText, Constants) {
  expect_round_trip(R"(graph():
  %0 : NoneType = prim::Constant()
  %1 : float = prim::Constant[value=0.10000000000000001]()
  %2 : float = prim::Constant[value=3.]()
  %3 : float = prim::Constant[value=-inf]()
  %4 : float = prim::Constant[value=nan]()
  %5 : str = prim::Constant[value="a\"\\\012\377b"]()
  %6 : int[] = prim::Constant[value=[1, -2]]()
  %7 : (int, str) = prim::Constant[value=(1, "x")]()
  %8 : Device = prim::Constant[value=device("cuda:1")]()
  %9 : complex = prim::Constant[value=complex(1., -2.5)]()
  %10 : (int) = prim::Constant[value=(1,)]()
  %11 : Tensor = prim::Constant[name="__torch__.f"]()
  return ()
)");
}

TEST(GraphText, Fields) {
  expect_round_trip(R"(graph(%self : __torch__.a.M, %x : Tensor):
  %w : Tensor = prim::GetAttr[name="w"](%self)
  prim::SetAttr[name="0"](%self, %x)
  %0 : Tensor = prim::CallMethod[name="forward"](%self, %x)
  %1 : bool = prim::isinstance[types=[int, str[]?]](%x)
  %2 : (Tensor, Tensor) = prim::TupleConstruct(%w, %0)
  %3 : (Tensor) = prim::TupleSlice[begin=0, end=1](%2)
  prim::Store[name="y"](%3)
  return (%0)
)");
}

TEST(GraphText, GraphsInsideOfNodes) {
  expect_round_trip(R"(graph(%x : Tensor):
  %0 : Future(Tensor) = prim::fork(%x)
    graph(%x : Tensor):
      %0 : Tensor = aten::relu(%x)
      return (%0)
  return (%0)
)");
}

TEST(GraphText, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("graph(%x : Tensor):\n  return (%y)\n"), "byte 30: nothing made %y");
  EXPECT_EQ(error_of("graph(%x : Tensor, %x : int):"), "byte 19: %x is made twice");
  EXPECT_EQ(error_of("graph(): %0 : int = aten::nothing() return ()"),
            "byte 20: there is no operator aten::nothing");
  EXPECT_EQ(error_of("graph(): %0 : int = add()"),
            "byte 20: expected an operator, such as aten::add.Tensor, found 'add()'");
  EXPECT_EQ(error_of("graph():"), "byte 8: expected an operator, such as aten::add.Tensor, found the end");
  EXPECT_EQ(error_of("graph(): prim::Constant[value=<Tensor>]() return ()"),
            "byte 30: constants of that kind cannot be read, found '<Tensor>]() return ('");
  EXPECT_EQ(error_of("graph(): prim::Print[level=1]() return ()"), "byte 21: a node has no field 'level'");
  EXPECT_EQ(error_of("graph(): return () x"), "byte 19: the text goes on behind the graph, found 'x'");
  EXPECT_EQ(error_of(R"(graph(): prim::Constant[value="a\q"]() return ())"),
            "byte 32: a string has an unknown escape");
}

TEST(GraphText, DepthIsBounded) {
  std::string text = "graph(%c : bool):";
  for (int i = 0; i < 100'000; ++i) text += " prim::If(%c) block0():";
  EXPECT_EQ(error_of(text), "blocks are nested deeper than 1000");
  std::string lists = "graph(): %0 : int[] = prim::Constant[value=";
  lists.append(100'000, '[');
  EXPECT_EQ(error_of(lists), "a constant is nested too deep");
}

}  // namespace
}  // namespace flambeau::script::ir
