#include "flambeau/migrate/script_program.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/migrate/script_state.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/runtime/program.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::migration {
namespace {

constexpr const char* kCode = R"(class M(Module):
  __parameters__ = ["weight", ]
  __buffers__ = ["count", ]
  training : bool
  weight : Tensor
  count : Tensor
  turns : int
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    y = x
    for i in range(self.turns):
      y = torch.mul(y, self.weight)
    return torch.reshape(y, [torch.size(x, 0), -1])
  def numbers(self: __torch__.M,
    x: Tensor) -> Tensor:
    n = ops.prim.NumToTensor(torch.size(x, 0))
    m = torch.floor_divide(torch.mul(n, CONSTANTS.c0), CONSTANTS.c0)
    return torch.view(x, [int(m), -1])
  def counts(self: __torch__.M,
    x: Tensor) -> Tensor:
    self.count = torch.add(self.count, 1)
    if bool(torch.gt(self.weight, 0)):
      y = torch.add(x, self.count)
    else:
      y = x
    return y
  def changes(self: __torch__.M,
    x: Tensor) -> Tensor:
    self.turns = torch.add(self.turns, 1)
    return torch.mul(x, self.turns)
  def decides(self: __torch__.M,
    x: Tensor) -> Tensor:
    if bool(torch.gt(torch.sum(x), 0)):
      y = x
    else:
      y = torch.neg(x)
    return y
  def repeats(self: __torch__.M,
    x: Tensor) -> Tensor:
    y = x
    _0 = bool(torch.lt(torch.sum(x), 20))
    while _0:
      y0 = torch.mul(y, 2)
      _1 = bool(torch.lt(torch.sum(y0), 20))
      _0, y = _1, y0
    return y
  def disagrees(self: __torch__.M,
    x: Tensor) -> Tuple[str, str]:
    if bool(torch.gt(torch.sum(x), 0)):
      a = "up"
    else:
      a = "down"
    if bool(torch.gt(torch.max(x), 3)):
      b = "far"
    else:
      b = "near"
    return (a, b)
)";

Tensor filled(std::initializer_list<int64_t> sizes, float value) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, Dims(sizes));
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.mutable_data<float>()[i] = value;
  return tensor;
}

class ScriptProgram : public testing::Test {
 protected:
  void SetUp() override {
    const auto source = std::make_shared<const script::Source>(kCode, "code/__torch__.py");
    script::compiler::ArchiveCode code;
    code.version = 10;
    code.find_text = [source](std::string_view qualifier) -> std::shared_ptr<const script::Source> {
      return qualifier == "__torch__" ? source : nullptr;
    };
    Tensor four = Tensor::zeros(DType::kInt64, Dims{});
    four.mutable_data<int64_t>()[0] = 4;
    code.constants = {IValue(four)};
    script::compiler::use_archive_code(*unit_, std::move(code));
    object_ = IValue::object(unit_->find_class("__torch__.M"));
    std::vector<IValue>& slots = object_.as_object().slots;
    slots = {false, filled({1}, 2), filled({1}, 0), 3};
  }
  graph::ExportedProgram trace(const std::string& method, const Tensor& x, const TraceOptions& options = {}) {
    story_ = {};
    return trace_script({.unit = unit_,
                         .library = std::make_shared<const ops::Library>(),
                         .object = object_,
                         .method = method,
                         .positional = {x},
                         .keywords = {}},
                        options, story_);
  }
  const TraceOptions any_batch_ = {.dynamic = {{"x", {{0, trace::Dim("batch")}}}}};

  std::shared_ptr<script::Unit> unit_ = std::make_shared<script::Unit>(
      std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>()));
  IValue object_;
  Story story_;
};

TEST_F(ScriptProgram, UnrollsLoopsAndKeepsSizesFree) {
  graph::ExportedProgram made = trace("forward", filled({2, 3, 4}, 1), any_batch_);
  EXPECT_EQ(made.state_dict.at(0).name, "weight");
  EXPECT_TRUE(made.state_dict.at(0).is_parameter);
  runtime::Program program(std::move(made));
  const Tensor y = program.run({filled({5, 3, 4}, 1)}).at(0).tensor();
  EXPECT_EQ(y.summary(), "float32[5, 12]");
  EXPECT_EQ(y.data<float>()[59], 8);
}

TEST_F(ScriptProgram, FollowsNumbersThatAreTensors) {
  runtime::Program program(trace("numbers", filled({2, 3, 4}, 1), any_batch_));
  EXPECT_EQ(program.run({filled({7, 3, 4}, 1)}).at(0).tensor().summary(), "float32[7, 12]");
}

TEST_F(ScriptProgram, WritesBuffersAndKnowsElementsOfTheFile) {
  runtime::Program program(trace("counts", filled({2}, 10)));
  EXPECT_EQ(story_.notes.size(), 0U);  // what was looked at was made of a parameter
  EXPECT_EQ(program.run({filled({2}, 10)}).at(0).tensor().data<float>()[0], 11);
  EXPECT_EQ(program.run({filled({2}, 10)}).at(0).tensor().data<float>()[0], 12);
  // The module itself is as before.
  EXPECT_EQ(object_.as_object().slots[2].as_tensor().data<float>()[0], 0);
}

TEST_F(ScriptProgram, RefusesWhatNoProgramKeeps) {
  try {
    trace("changes", filled({2}, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the method 'changes' changes self.turns (int), which a program cannot keep");
  }
  EXPECT_EQ(object_.as_object().slots[3].as_int(), 3);
  TraceOptions forgets;
  forgets.forgets_changes = true;
  runtime::Program program(trace("changes", filled({2}, 1), forgets));
  EXPECT_EQ(program.run({filled({2}, 1)}).at(0).tensor().data<float>()[0], 4);
}

TEST_F(ScriptProgram, TakesBothSidesOfABranch) {
  runtime::Program program(trace("decides", filled({2}, 1)));
  EXPECT_EQ(program.run({filled({2}, 2)}).at(0).tensor().data<float>()[0], 2);
  EXPECT_EQ(program.run({filled({2}, -2)}).at(0).tensor().data<float>()[0], 2);
}

TEST_F(ScriptProgram, RepeatsAsOftenAsDataSays) {
  runtime::Program program(trace("repeats", filled({2}, 1)));
  EXPECT_EQ(program.run({filled({2}, 1)}).at(0).tensor().data<float>()[0], 16);
  EXPECT_EQ(program.run({filled({2}, 9)}).at(0).tensor().data<float>()[0], 18);
  EXPECT_EQ(program.run({filled({2}, 50)}).at(0).tensor().data<float>()[0], 50);
}

TEST_F(ScriptProgram, ListsAllThatStandsInTheWay) {
  try {
    trace("disagrees", filled({2}, 1));
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("2 things cannot be said by a program"), std::string::npos) << text;
    EXPECT_NE(text.find("about 'a': it is the text 'up' on one way"), std::string::npos) << text;
    EXPECT_NE(text.find("about 'b': it is the text 'far' on one way"), std::string::npos) << text;
    EXPECT_NE(text.find("code/__torch__.py"), std::string::npos) << text;
    EXPECT_NE(text.find("a program has no texts"), std::string::npos) << text;
  }
}

TEST(ScriptState, NamesClassesAsPythonDoes) {
  EXPECT_EQ(python_class_name("__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear"),
            "torch.nn.modules.linear.Linear");
}

}  // namespace
}  // namespace flambeau::migration
