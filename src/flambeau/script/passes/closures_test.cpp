#include <gtest/gtest.h>

#include "flambeau/script/passes/load.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/passes/test_support.h"

namespace flambeau::script {
namespace {

void closures_pass(ir::Graph& graph, Unit& unit) {
  lift_closures(graph, [&](ir::Graph& inner) { run_cleanup_passes(inner, unit); });
}

TEST(Closures, BecomeGraphsOfForks) {
  EXPECT_EQ(after(closures_pass, R"(graph(%x : Tensor, %y : Tensor):
  %f : Tensor = prim::Closure()
    block0():
      %0 : Tensor = aten::mul.Tensor(%x, %y)
      %1 : Tensor = aten::relu(%0)
      -> (%1)
  %2 : Future(Tensor) = prim::fork(%f)
  %3 : Tensor = aten::wait(%2)
  return (%3)
)"),
            R"(graph(%x : Tensor, %y : Tensor):
  %0 : Future(Tensor) = prim::fork(%x, %y)
    graph(%x : Tensor, %y : Tensor):
      %0 : Tensor = aten::mul.Tensor(%x, %y)
      %1 : Tensor = aten::relu(%0)
      return (%1)
  %1 : Tensor = aten::wait(%0)
  return (%1)
)");
}

TEST(Closures, AreForkedMoreThanOnce) {
  EXPECT_EQ(after(closures_pass, R"(graph(%x : Tensor):
  %f : Tensor = prim::Closure()
    block0():
      -> (%x)
  %0 : Future(Tensor) = prim::fork(%f)
  %1 : Await(Tensor) = prim::awaitable(%f)
  %2 : (Future(Tensor), Await(Tensor)) = prim::TupleConstruct(%0, %1)
  return (%2)
)"),
            R"(graph(%x : Tensor):
  %0 : Future(Tensor) = prim::fork(%x)
    graph(%x : Tensor):
      return (%x)
  %1 : Await(Tensor) = prim::awaitable(%x)
    graph(%x : Tensor):
      return (%x)
  %2 : (Future(Tensor), Await(Tensor)) = prim::TupleConstruct(%0, %1)
  return (%2)
)");
}

TEST(Closures, InsideOfClosures) {
  EXPECT_EQ(after(closures_pass, R"(graph(%x : Tensor):
  %f : Tensor = prim::Closure()
    block0():
      %g : Tensor = prim::Closure()
        block0():
          %0 : Tensor = aten::relu(%x)
          -> (%0)
      %1 : Future(Tensor) = prim::fork(%g)
      -> (%1)
  %2 : Future(Future(Tensor)) = prim::fork(%f)
  return (%2)
)"),
            R"(graph(%x : Tensor):
  %0 : Future(Future(Tensor)) = prim::fork(%x)
    graph(%x : Tensor):
      %0 : Future(Tensor) = prim::fork(%x)
        graph(%x : Tensor):
          %0 : Tensor = aten::relu(%x)
          return (%0)
      return (%0)
  return (%0)
)");
}

TEST(Closures, TakeWhatTheirBlocksUse) {
  EXPECT_EQ(after(closures_pass, R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %f : Tensor = prim::Closure()
    block0():
      %0 : Tensor = prim::If(%c)
        block0():
          -> (%x)
        block1():
          %1 : Tensor = aten::relu(%y)
          -> (%1)
      -> (%0)
  %2 : Future(Tensor) = prim::fork(%f)
  return (%2)
)"),
            R"(graph(%x : Tensor, %y : Tensor, %c : bool):
  %0 : Future(Tensor) = prim::fork(%c, %x, %y)
    graph(%c : bool, %x : Tensor, %y : Tensor):
      %0 : Tensor = prim::If(%c)
        block0():
          -> (%x)
        block1():
          %1 : Tensor = aten::relu(%y)
          -> (%1)
      return (%0)
  return (%0)
)");
}

TEST(Closures, ThatNobodyForksGo) {
  EXPECT_EQ(after(closures_pass, R"(graph(%x : Tensor):
  %f : Tensor = prim::Closure()
    block0():
      -> (%x)
  return (%x)
)"),
            R"(graph(%x : Tensor):
  return (%x)
)");
}

TEST(Closures, AreNoValues) {
  EXPECT_EQ(error_of(closures_pass, R"(graph(%x : Tensor):
  %f : Tensor = prim::Closure()
    block0():
      -> (%x)
  return (%f)
)"),
            "a function inside of a function can only be forked or awaited");
}

}  // namespace
}  // namespace flambeau::script
