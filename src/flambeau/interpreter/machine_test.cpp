#include "flambeau/interpreter/machine.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/traceback.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using script::Class;
using script::ClassKind;
using script::Function;

// A unit whose functions are written as graphs.
class MachineTest : public testing::Test {
 protected:
  std::shared_ptr<const SchemaTable> operators = std::make_shared<SchemaTable>();
  std::shared_ptr<script::Unit> unit = std::make_shared<script::Unit>(operators);
  std::shared_ptr<Program> program = std::make_shared<Program>(unit, std::make_shared<const ops::Library>());
  ThreadPool pool{1};
  MachineOptions options;

  std::shared_ptr<Function> function(const std::string& name, const std::string& text) {
    const std::shared_ptr<ir::Graph> graph = ir::parse_graph(text, *operators);
    script::Signature signature;
    signature.name = name.substr(name.rfind('.') + 1);
    for (const ir::Value* const input : graph->inputs())
      signature.arguments.push_back({.name = input->name(), .type = input->type()});
    signature.returns = {graph->outputs()[0]->type()};
    return std::make_shared<Function>(name, std::move(signature), graph);
  }
  IValue run(const std::string& text, std::vector<IValue> arguments = {}) {
    Machine machine(program, pool, options);
    return machine.call(function("__torch__.f", text), std::move(arguments));
  }
  std::string error_of(const std::string& text, std::vector<IValue> arguments = {}) {
    try {
      run(text, std::move(arguments));
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }
};

constexpr const char* kSum = R"(graph(%n : int):
  %true : bool = prim::Constant[value=True]()
  %zero : int = prim::Constant[value=0]()
  %three : int = prim::Constant[value=3]()
  %sum : int = prim::Loop(%n, %true, %zero)
    block0(%i : int, %s : int):
      %a : int = aten::mul.int(%i, %three)
      %b : int = aten::add.int(%s, %a)
      -> (%true, %b)
  return (%sum)
)";

TEST_F(MachineTest, Loops) {
  EXPECT_EQ(run(kSum, {10}).as_int(), 135);
  EXPECT_EQ(run(kSum, {0}).as_int(), 0);
  EXPECT_EQ(run(kSum, {-5}).as_int(), 0);
}

// The carried values change places every turn.
TEST_F(MachineTest, CarriedValuesMoveAtOnce) {
  const char* const text = R"(graph(%n : int):
  %true : bool = prim::Constant[value=True]()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %2 : int = prim::Constant[value=2]()
  %x : int, %y : int, %z : int = prim::Loop(%n, %true, %0, %1, %2)
    block0(%i : int, %a : int, %b : int, %c : int):
      -> (%true, %b, %c, %a)
  %t : (int, int, int) = prim::TupleConstruct(%x, %y, %z)
  return (%t)
)";
  const IValue result = run(text, {4});
  EXPECT_EQ(result.items()[0].as_int(), 1);
  EXPECT_EQ(result.items()[1].as_int(), 2);
  EXPECT_EQ(result.items()[2].as_int(), 0);
}

TEST_F(MachineTest, WhileWithCarriedCondition) {
  const char* const text = R"(graph(%n : int):
  %most : int = prim::Constant[value=9223372036854775807]()
  %true : bool = prim::Constant[value=True]()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %go : bool, %x : int = prim::Loop(%most, %true, %true, %0)
    block0(%i : int, %was : bool, %a : int):
      %b : int = aten::add.int(%a, %1)
      %less : bool = aten::lt.int(%b, %n)
      -> (%was, %less, %b)
  return (%x)
)";
  EXPECT_EQ(run(text, {5}).as_int(), 6);
}

TEST_F(MachineTest, BranchesAndLists) {
  const char* const text = R"(graph(%c : bool, %l : int[]):
  %1 : int = prim::Constant[value=1]()
  %r : int[] = prim::If(%c)
    block0():
      %m : int[] = aten::append.t(%l, %1)
      -> (%m)
    block1():
      %n : int[] = prim::ListConstruct(%1, %1)
      -> (%n)
  %s : int = aten::len.t(%r)
  return (%s)
)";
  const IValue list = IValue::list(TypeKind::kInt, {7});
  EXPECT_EQ(run(text, {true, list}).as_int(), 2);
  EXPECT_EQ(list.items().size(), 2U);  // the caller's own
  EXPECT_EQ(list.owners(), 1U);        // and nobody kept it
  EXPECT_EQ(run(text, {false, list}).as_int(), 2);
}

TEST_F(MachineTest, TensorsKeepTheirIdentity) {
  const char* const text = R"(graph(%x : Tensor, %y : Tensor):
  %1 : int = prim::Constant[value=1]()
  %z : Tensor = aten::add_.Tensor(%x, %y, %1)
  %u : Tensor = aten::unsqueeze_(%x, %1)
  %same : bool = aten::__is__(%z, %u)
  %t : (bool, Tensor) = prim::TupleConstruct(%same, %x)
  return (%t)
)";
  const int64_t sizes[] = {2};
  Tensor one = Tensor::zeros(DType::kFloat32, sizes);
  one.mutable_data<float>()[1] = 1;
  const IValue x(one);
  const IValue result = run(text, {x, IValue(one)});
  EXPECT_TRUE(result.items()[0].as_bool());
  EXPECT_EQ(result.items()[1].identity(), x.identity());
  EXPECT_EQ(x.as_tensor().dim(), 2U);
  EXPECT_EQ(x.as_tensor().data<float>()[1], 2);
}

TEST_F(MachineTest, CallsAndTracebacks) {
  unit->add(function("__torch__.inner", R"(graph(%x : int):
  %m : str = prim::Constant[value="no {}"]()
  %c : str = prim::Constant[value="builtins.ValueError"]()
  %t : str = aten::format(%m, %x)
  prim::RaiseException(%t, %c)
  return (%x)
)"));
  unit->add(function("__torch__.outer", R"(graph(%x : int):
  %f : Any = prim::Constant[name="__torch__.inner"]()
  %y : int = prim::CallFunction(%f, %x)
  return (%y)
)"));
  Machine machine(program, pool);
  try {
    machine.call(unit->find_function("__torch__.outer"), {7});
    FAIL();
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.message(), "no 7");
    EXPECT_EQ(error.exception(), "builtins.ValueError");
    ASSERT_EQ(error.frames().size(), 2U);
    EXPECT_EQ(error.frames()[0].function, "__torch__.outer");
    EXPECT_EQ(error.frames()[1].function, "__torch__.inner");
    EXPECT_NE(traceback_text(error).find("builtins.ValueError: no 7"), std::string::npos);
  }
}

TEST_F(MachineTest, Budgets) {
  options.most_steps = 1000;
  EXPECT_EQ(error_of(kSum, {int64_t{1} << 60}), "the script took more than 1000 steps");
  EXPECT_EQ(run(kSum, {900}).as_int(), 900 * 899 / 2 * 3);
  unit->add(function("__torch__.again", R"(graph(%x : int):
  %f : Any = prim::Constant[name="__torch__.again"]()
  %y : int = prim::CallFunction(%f, %x)
  return (%y)
)"));
  options.most_steps = 0;
  options.most_depth = 100;
  Machine machine(program, pool, options);
  try {
    machine.call(unit->find_function("__torch__.again"), {7});
    FAIL();
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kLimit);
    EXPECT_EQ(error.frames().size(), 100U);
  }
}

TEST_F(MachineTest, NothingOutsideUnlessGranted) {
  const char* const text = R"(graph(%x : Tensor, %p : str):
  %n : NoneType = prim::Constant()
  aten::save(%x, %p)
  return (%n)
)";
  const int64_t sizes[] = {2};
  EXPECT_EQ(error_of(text, {Tensor::zeros(DType::kFloat32, sizes), "/tmp/x"}),
            "the script calls aten::save, which may read or write files");
}

TEST_F(MachineTest, DivisionByZeroIsAnError) {
  const char* const text = R"(graph(%x : int, %y : int):
  %z : int = aten::remainder.int(%x, %y)
  %w : int = aten::floordiv.int(%x, %y)
  return (%w)
)";
  EXPECT_EQ(error_of(text, {7, 0}), "division by 0");
  EXPECT_EQ(error_of(text, {INT64_MIN, -1}), "the quotient is beyond an int of 64 bits");
  EXPECT_EQ(run(text, {-7, 2}).as_int(), -4);
}

TEST_F(MachineTest, PrintAndWarn) {
  std::string printed, warned;
  options.print = [&](std::string_view text) { printed += text; };
  options.warn = [&](const std::string& text) { warned += text; };
  run(R"(graph(%n : int):
  %true : bool = prim::Constant[value=True]()
  %m : str = prim::Constant[value="once"]()
  %2 : int = prim::Constant[value=2]()
  %f : float = prim::Constant[value=0.1]()
  prim::Loop(%n, %true)
    block0(%i : int):
      aten::warn(%m, %2)
      prim::Print(%i, %f, %m)
      -> (%true)
  return (%n)
)",
      {2});
  EXPECT_EQ(printed, "0 0.10000000000000001 once\n1 0.10000000000000001 once\n");
  EXPECT_EQ(warned, "once");
}

}  // namespace
}  // namespace flambeau::interpreter
