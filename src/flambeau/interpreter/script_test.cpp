// Whole scripts, as archives have them.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/interpreter/traceback.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

constexpr const char* kCode = R"(class Context:
  log : List[str]
  def __enter__(self: __torch__.Context) -> __torch__.Context:
    log = self.log
    _2 = torch.append(log, "in")
    return self
  def __exit__(self: __torch__.Context,
    t: Any,
    v: Any,
    tb: Any) -> NoneType:
    log = self.log
    _3 = torch.append(log, "out")
    return None
  def __init__(self: __torch__.Context,
    log: List[str]) -> NoneType:
    self.log = log
    return None
class Pair:
  a : int
  def __init__(self: __torch__.Pair,
    a: int) -> NoneType:
    self.a = a
    return None
  def __lt__(self: __torch__.Pair,
    other: __torch__.Pair) -> bool:
    return torch.lt(self.a, other.a)
class Shape(Interface):
  def area(self, x: int) -> int:
    pass
class Square:
  def area(self: __torch__.Square,
    x: int) -> int:
    return torch.mul(x, x)
class Line:
  def area(self: __torch__.Line,
    x: int) -> int:
    return 0
def convolution(w: Tensor) -> Tuple[Tensor, List[int], bool]:
  q = torch.quantize_per_tensor(w, 0.5, 0, 12)
  p = ops.quantized.conv2d_prepack(q, None, [2, 1], [0, 0], [1, 1], 1)
  weight, bias, = (p).unpack()
  return (weight, (p).stride(), torch.__is__(bias, None))
def counted(steps: List[int]) -> Tuple[int, List[int]]:
  _0 = __torch__.torch.classes.my.Counter.__new__(__torch__.torch.classes.my.Counter)
  _1 = (_0).__init__(10, )
  for i in range(torch.len(steps)):
    _2 = (_0).add(steps[i], )
  return ((_0).sum(), (_0).__getstate__())
def too_early() -> int:
  _0 = __torch__.torch.classes.my.Counter.__new__(__torch__.torch.classes.my.Counter)
  return (_0).sum()
def double(x: int) -> int:
  if torch.lt(x, 0):
    ops.prim.RaiseException("negative", "builtins.ValueError")
  else:
    pass
  return torch.mul(x, 2)
def within(log: List[str],
    x: int) -> int:
  _0 = __torch__.Context.__new__(__torch__.Context)
  _1 = (_0).__init__(log, )
  with _0:
    y = __torch__.double(x, )
  return y
def forked(x: int,
    y: int) -> int:
  def __forked_function():
    return __torch__.double(x, )
  a = fork(__forked_function)
  def __forked_function0():
    return __torch__.double(y, )
  b = fork(__forked_function0)
  if torch.gt(x, 100):
    _0 = 0
  else:
    _0 = torch.add(torch.wait(a), torch.wait(b))
  return _0
def sort_pairs(x: List[int]) -> List[int]:
  pairs = annotate(List[__torch__.Pair], [])
  for i in range(torch.len(x)):
    p = __torch__.Pair.__new__(__torch__.Pair)
    _1 = (p).__init__(x[i], )
    _2 = torch.append(pairs, p)
  _3 = sorted(pairs)
  result = annotate(List[int], [])
  for i in range(torch.len(_3)):
    _4 = torch.append(result, (_3[i]).a)
  return result
def area_of(shape: __torch__.Shape,
    x: int) -> int:
  return (shape).area(x, )
def areas(x: int) -> int:
  sum = 0
  for i in range(10):
    s = __torch__.Square.__new__(__torch__.Square)
    l = __torch__.Line.__new__(__torch__.Line)
    _0 = __torch__.area_of(s, x, )
    _1 = __torch__.area_of(l, x, )
    sum = torch.add(torch.add(sum, _0), _1)
  return sum
)";

// What a user would add: an object that counts.
ops::ObjectClass counter_class() {
  const auto numbers = [](const Object& object) -> Dims& {
    return *static_cast<Dims*>(object.pointer.get());
  };
  const std::string name = "__torch__.torch.classes.my.Counter";
  return {.name = name,
          .state_type = "List[int]",
          .from_state =
              [=](const Value& state) { return Object{name, std::make_shared<Dims>(state.get<Dims>())}; },
          .state = [=](const Object& object) { return Value(numbers(object)); },
          .methods = {{.name = "__init__",
                       .arguments = {{"first", "int"}},
                       .function =
                           [=](const Object&, std::span<const Value> given) {
                             return Object{name, std::make_shared<Dims>(Dims{given[0].get<int64_t>()})};
                           }},
                      {.name = "add",
                       .arguments = {{"step", "int"}},
                       .function =
                           [=](const Object& object, std::span<const Value> given) {
                             numbers(object).push_back(given[0].get<int64_t>());
                             return Value();
                           }},
                      {.name = "sum",
                       .result = "int",
                       .function = [=](const Object& object, std::span<const Value>) {
                         int64_t sum = 0;
                         for (const int64_t number : numbers(object)) sum += number;
                         return Value(sum);
                       }}}};
}

std::shared_ptr<const ops::Library> library_with_counter() {
  auto library = std::make_shared<ops::Library>();
  library->add_class(counter_class());
  return library;
}

class ScriptTest : public testing::Test {
 protected:
  void SetUp() override {
    unit_->set_native_methods(native_methods(library_));
    const auto source = std::make_shared<const script::Source>(kCode, "code/__torch__.py");
    script::compiler::ArchiveCode code;
    code.version = 10;
    code.find_text = [source](std::string_view qualifier) -> std::shared_ptr<const script::Source> {
      return qualifier == "__torch__" ? source : nullptr;
    };
    script::compiler::use_archive_code(*unit_, std::move(code));
  }
  IValue run(const std::string& name, std::vector<IValue> arguments) {
    return machine_.call(unit_->find_function("__torch__." + name), std::move(arguments));
  }

  std::shared_ptr<script::Unit> unit_ = std::make_shared<script::Unit>(
      std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>()));
  ThreadPool pool_{1};
  std::shared_ptr<const ops::Library> library_ = library_with_counter();
  Machine machine_{std::make_shared<const Program>(unit_, library_), pool_};
};

std::string joined(const IValue& texts) {
  std::string all;
  for (const IValue& text : texts.items()) all += text.as_string() + " ";
  return all;
}

TEST_F(ScriptTest, LeavesWhatItEntered) {
  const IValue log = IValue::list(TypeKind::kString);
  EXPECT_EQ(run("within", {log, 21}).as_int(), 42);
  EXPECT_EQ(joined(log), "in out ");
  try {
    run("within", {log, -1});
    FAIL();
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.message(), "negative");
    EXPECT_EQ(error.exception(), "builtins.ValueError");
    ASSERT_EQ(error.frames().size(), 2U);
    EXPECT_EQ(error.frames()[1].range.text(), "RaiseException");
    const std::string text = traceback_text(error);
    EXPECT_NE(text.find("line 63, in __torch__.within"), std::string::npos) << text;
    EXPECT_NE(text.find("line 54, in __torch__.double"), std::string::npos) << text;
    EXPECT_NE(text.find("<--- HERE"), std::string::npos) << text;
  }
  EXPECT_EQ(joined(log), "in out in out ");
  EXPECT_EQ(log.owners(), 1U);
}

TEST_F(ScriptTest, ForkedErrorsWaitForTheirWaiter) {
  EXPECT_EQ(run("forked", {1, 2}).as_int(), 6);
  // Nobody waits for it.
  EXPECT_EQ(run("forked", {200, -1}).as_int(), 0);
  try {
    run("forked", {1, -1});
    FAIL();
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.message(), "negative");
    EXPECT_EQ(error.frames().front().function, "__torch__.forked");
    EXPECT_EQ(error.frames().back().function, "__torch__.double");
  }
  EXPECT_EQ(run("forked", {1, 2}).as_int(), 6);  // the machine is as it was
}

TEST_F(ScriptTest, BuiltinsCallScripts) {
  const IValue sorted = run("sort_pairs", {IValue::list(TypeKind::kInt, {3, 1, 2, 1})});
  std::vector<int64_t> numbers;
  for (const IValue& item : sorted.items()) numbers.push_back(item.as_int());
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 1, 2, 3}));
}

TEST_F(ScriptTest, PackedWeightsAnswer) {
  const IValue given = run("convolution", {Tensor::zeros(DType::kFloat32, Dims{2, 1, 3, 3})});
  EXPECT_EQ(given.items().at(0).as_tensor().sizes(), (Dims{2, 1, 3, 3}));
  EXPECT_EQ(given.items().at(1).items().at(0).as_int(), 2);
  EXPECT_EQ(given.items().at(1).items().at(1).as_int(), 1);
  EXPECT_TRUE(given.items().at(2).as_bool());
}

TEST_F(ScriptTest, ObjectsOfUsersClasses) {
  const IValue given = run("counted", {IValue::list(TypeKind::kInt, {1, 2, 3})});
  EXPECT_EQ(given.items().at(0).as_int(), 16);
  EXPECT_EQ(given.items().at(1).items().size(), 4U);
  try {
    run("too_early", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "an object of __torch__.torch.classes.my.Counter is used before its __init__ ran");
  }
  ops::Library library;
  EXPECT_THROW(library.add_class({.name = "my.Counter", .state_type = {}}), Error);
  EXPECT_THROW(library.add_class({.name = "__torch__.torch.classes.my.Counter", .state_type = "int"}), Error);
  library.add_class(counter_class());
  EXPECT_THROW(library.add_class(counter_class()), Error);
}

TEST_F(ScriptTest, InterfacesByTheObjectsClass) { EXPECT_EQ(run("areas", {3}).as_int(), 90); }

}  // namespace
}  // namespace flambeau::interpreter
