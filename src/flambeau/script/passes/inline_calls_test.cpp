#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

class InlinedCalls : public testing::Test {
 protected:
  // The first function of the text, with all that it calls inside.
  std::shared_ptr<ir::Graph> inlined(const std::string& text) {
    const auto functions =
        compiler::define_text(unit_, std::make_shared<const Source>(text, "test.py"), "__torch__");
    std::shared_ptr<ir::Graph> graph = functions.at(0)->graph()->copy();
    inline_calls(*graph, unit_, 10'000);
    eliminate_dead_code(*graph);
    graph->check();
    return graph;
  }

  std::string error_of_inlining(const std::string& text) {
    try {
      inlined(text);
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }

  Unit unit_{std::make_shared<const SchemaTable>()};
};

TEST_F(InlinedCalls, OfFunctions) {
  EXPECT_EQ(ir::to_text(*inlined(R"(
def f(x):
    return g(g(x))

def g(y):
    return torch.relu(y)
)")),
            R"(graph(%x.1 : Tensor):
  %0 : Tensor = aten::relu(%x.1)
  %1 : Tensor = aten::relu(%0)
  return (%1)
)");
}

TEST_F(InlinedCalls, OfFunctionsThatCallOthers) {
  const auto graph = inlined(R"(
def f(x, c: bool):
    if c:
        x = g(x)
    return x

def g(y):
    return h(y)

def h(z):
    return torch.relu(z)
)");
  EXPECT_EQ(ir::to_text(*graph), R"(graph(%x.1 : Tensor, %c.1 : bool):
  %x : Tensor = prim::If(%c.1)
    block0():
      %x.5 : Tensor = aten::relu(%x.1)
      -> (%x.5)
    block1():
      -> (%x.1)
  return (%x)
)");
  const ir::Node& node = *graph->block().first()->block(0)->first();
  ASSERT_NE(node.frame, nullptr);
  EXPECT_EQ(node.frame->function, "__torch__.h");
  EXPECT_EQ(node.frame->called_at.text().substr(0, 1), "h");
  ASSERT_NE(node.frame->outer, nullptr);
  EXPECT_EQ(node.frame->outer->function, "__torch__.g");
  EXPECT_EQ(node.frame->outer->outer, nullptr);
}

TEST_F(InlinedCalls, OfFunctionsThatDoNothing) {
  EXPECT_EQ(ir::to_text(*inlined(R"(
def f(x, c: bool):
    if c:
        x = g(x)
    return x

def g(y):
    return y
)")),
            R"(graph(%x.1 : Tensor, %c.1 : bool):
  %x : Tensor = prim::If(%c.1)
    block0():
      -> (%x.1)
    block1():
      -> (%x.1)
  return (%x)
)");
}

TEST_F(InlinedCalls, InLoopsAndTheirConditions) {
  EXPECT_EQ(ir::to_text(*inlined(R"(
def f(x, n: int):
    for i in range(n):
        x = g(x, i)
    return x

def g(y, i: int):
    return torch.add(y, i)
)")),
            R"(graph(%x.1 : Tensor, %n.1 : int):
  %0 : bool = prim::Constant[value=True]()
  %x : Tensor = prim::Loop(%n.1, %0, %x.1)
    block0(%i.1 : int, %x.11 : Tensor):
      %1 : int = prim::Constant[value=1]()
      %x.5 : Tensor = aten::add.Scalar(%x.11, %i.1, %1)
      -> (%0, %x.5)
  return (%x)
)");
}

TEST_F(InlinedCalls, KeepTheOrderOfWhatTheyDo) {
  EXPECT_EQ(ir::to_text(*inlined(R"(
def f(x):
    g(x)
    return torch.neg(x)

def g(y):
    y.add_(1)
    print(y)
    return y
)")),
            R"(graph(%x.1 : Tensor):
  %0 : int = prim::Constant[value=1]()
  %1 : Tensor = aten::add_.Scalar(%x.1, %0, %0)
  prim::Print(%x.1)
  %2 : Tensor = aten::neg(%x.1)
  return (%2)
)");
}

TEST_F(InlinedCalls, GiveSeveralValuesAsATuple) {
  EXPECT_EQ(ir::to_text(*inlined(R"(
def f(x):
    a, b = g(x)
    return a

def g(y):
    return torch.neg(y), torch.abs(y)
)")),
            R"(graph(%x.1 : Tensor):
  %0 : Tensor = aten::neg(%x.1)
  %1 : Tensor = aten::abs(%x.1)
  %2 : (Tensor, Tensor) = prim::TupleConstruct(%0, %1)
  %a.1 : Tensor, %b : Tensor = prim::TupleUnpack(%2)
  return (%a.1)
)");
}

TEST_F(InlinedCalls, OfMethodsKnowTheirModule) {
  const auto inner = std::make_shared<Class>(ClassKind::kModule, "__torch__.Inner");
  const auto outer = std::make_shared<Class>(ClassKind::kModule, "__torch__.Outer");
  outer->attributes = {{.name = "0", .type = inner->type()}};
  unit_.add(inner);
  unit_.add(outer);
  const auto graph = ir::parse_graph(R"(graph(%self : __torch__.Inner, %x : Tensor):
  %0 : Tensor = aten::relu(%x)
  return (%0)
)",
                                     unit_.operators());
  Signature signature{.name = "forward"};
  signature.arguments = {{.name = "self", .type = inner->type()}, {.name = "x"}};
  signature.returns = {TypeKind::kTensor};
  inner->methods.push_back(std::make_shared<Function>("__torch__.Inner.forward", signature, graph));
  const auto caller = ir::parse_graph(R"(graph(%self : __torch__.Outer, %x : Tensor):
  %0 : __torch__.Inner = prim::GetAttr[name="0"](%self)
  %1 : Tensor = prim::CallMethod[name="forward"](%0, %x)
  return (%1)
)",
                                      unit_.operators());
  inline_calls(*caller, unit_);
  const ir::Node* node = caller->block().last();
  EXPECT_TRUE(node->is(ir::NodeKind::kOperator));
  EXPECT_EQ(node->frame->module_path, "0");
  EXPECT_EQ(node->frame->function, "__torch__.Inner.forward");
}

TEST_F(InlinedCalls, ThroughInterfacesStay) {
  unit_.add(std::make_shared<Class>(ClassKind::kModuleInterface, "__torch__.Any"));
  const std::string text = R"(graph(%i : __torch__.Any, %x : Tensor):
  %0 : Tensor = prim::CallMethod[name="forward"](%i, %x)
  return (%0)
)";
  const auto graph = ir::parse_graph(text, unit_.operators());
  inline_calls(*graph, unit_);
  EXPECT_EQ(ir::to_text(*graph), text);
}

TEST_F(InlinedCalls, OfWhatCallsItselfAreRefused) {
  EXPECT_EQ(error_of_inlining(R"(
def f(n: int) -> int:
    return g(n)

def g(n: int) -> int:
    return f(n)
)"),
            "__torch__.g calls itself, which cannot be inlined");
}

TEST_F(InlinedCalls, ThatDoubleEachTimeAreRefused) {
  std::string text = "def f(x: Tensor) -> Tensor:\n    return f0(x)\n";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    text +=
        "def f" + std::to_string(i) + "(x: Tensor) -> Tensor:\n    return " + next + "(" + next + "(x))\n";
  }
  text += "def f40(x: Tensor) -> Tensor:\n    return torch.relu(x)\n";
  EXPECT_EQ(error_of_inlining(text), "a graph of more than 10000 nodes once calls are inlined");
}

}  // namespace
}  // namespace flambeau::script
