#include <gtest/gtest.h>

#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void simplify(ir::Graph& graph, Unit& unit) { simplify_nodes(graph, unit); }

TEST(Containers, LengthsOfListsThatChangeStay) {
  const std::string text = R"(graph(%a : int, %b : int):
  %l : int[] = prim::ListConstruct(%a)
  %m : int[] = aten::append.t(%l, %b)
  %n : int = aten::len.t(%l)
  return (%n)
)";
  EXPECT_EQ(after(simplify, text), text);
}

TEST(Containers, DimensionsOfConvolutionsAreKnown) {
  const std::string inputs =
      "graph(%x : Tensor, %w : Tensor, %b : Tensor?, %s : int[], %p : int[], %d : int[], %g : int):\n";
  const std::string made = "  %y : Tensor = aten::conv2d(%x, %w, %b, %s, %p, %d, %g)\n";
  const std::string asked = "  %n : int = aten::dim(%y)\n  return (%y, %n)\n";
  const std::string known = after(simplify, inputs + made + asked);
  EXPECT_EQ(known.find("aten::dim"), std::string::npos) << known;
  EXPECT_NE(known.find("value=4"), std::string::npos) << known;
  // Something could have given it other sizes.
  const std::string changed = after(simplify, inputs + made + "  %z : Tensor = aten::squeeze_(%y)\n" + asked);
  EXPECT_NE(changed.find("aten::dim"), std::string::npos) << changed;
}

}  // namespace
}  // namespace flambeau::script
