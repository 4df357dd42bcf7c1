#include "flambeau/planned/methods.h"

#include <gtest/gtest.h>

#include "flambeau/base/parallel.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::planned {
namespace {

Tensor numbers(std::vector<float> values, std::vector<int64_t> sizes) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, sizes);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

std::vector<float> values_of(const IValue& value) {
  const Tensor tensor = value.as_tensor().to_contiguous();
  return {tensor.data<float>(), tensor.data<float>() + tensor.element_count()};
}

class PlannedMethods : public testing::Test {
 protected:
  // A module without attributes, with this method; CONSTANTS.c0 is [1, 2].
  void use(const std::string& arguments, const std::string& result, const std::string& body) {
    const std::string text =
        "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(self: __torch__.M,\n   "
        " " +
        arguments + ") -> " + result + ":\n" + body;
    script::compiler::ArchiveCode code;
    code.find_text = [text](std::string_view qualifier) -> std::shared_ptr<const script::Source> {
      if (qualifier != "__torch__") return nullptr;
      return std::make_shared<script::Source>(text, "code/__torch__.py");
    };
    code.version = 10;
    code.constants = {numbers({1, 2}, {2})};
    script::compiler::use_archive_code(*unit_, std::move(code));
    function_ = *unit_->get_class("__torch__.M").find_method("forward");
    module_ = IValue::object(unit_->find_class("__torch__.M"));
  }
  bool add() { return methods_.add(function_); }
  // By a plan; nothing where there is none.
  std::optional<IValue> run(std::vector<IValue> arguments) {
    arguments.insert(arguments.begin(), module_);
    return methods_.run(machine_, *function_, arguments);
  }

  std::shared_ptr<const ops::Library> library_ = std::make_shared<const ops::Library>();
  std::shared_ptr<script::Unit> unit_ =
      std::make_shared<script::Unit>(std::make_shared<const script::OperatorTable>(
          std::shared_ptr<const SchemaTable>(library_, &library_->schemas())));
  ThreadPool pool_{1};
  interpreter::Machine machine_{std::make_shared<const interpreter::Program>(unit_, library_), pool_};
  Methods methods_;
  std::shared_ptr<script::Function> function_;
  IValue module_;
};

TEST_F(PlannedMethods, GiveWhatTheMachineGives) {
  use("x: Tensor", "Tensor", "    return torch.relu(torch.add(x, CONSTANTS.c0))\n");
  ASSERT_TRUE(add());
  for (const float first : {3.0F, -5.0F}) {
    const std::optional<IValue> result = run({numbers({first, 1}, {2})});
    ASSERT_TRUE(result);
    EXPECT_EQ(values_of(*result), (std::vector<float>{std::max(first + 1, 0.0F), 3}));
  }
}

TEST_F(PlannedMethods, HaveAPlanForEachSetOfSizes) {
  use("x: Tensor", "Tensor", "    return torch.sum(torch.mul(x, torch.size(x, 0)))\n");
  ASSERT_TRUE(add());
  EXPECT_EQ(values_of(*run({numbers({1, 2}, {2})})), (std::vector<float>{6}));
  EXPECT_EQ(values_of(*run({numbers({1, 2, 3}, {3})})), (std::vector<float>{18}));
  EXPECT_EQ(values_of(*run({numbers({4, 2}, {2})})), (std::vector<float>{12}));
}

TEST_F(PlannedMethods, DecideLoopsAndBranchesByNumbers) {
  use("x: Tensor,\n    n: int", "Tensor",
      "    y = x\n    for i in range(n):\n      if torch.gt(i, 0):\n        y0 = torch.add(y, 10)\n      "
      "else:\n"
      "        y0 = torch.add(y, 1)\n      y = y0\n    return y\n");
  ASSERT_TRUE(add());
  EXPECT_EQ(values_of(*run({numbers({0}, {1}), 3})), (std::vector<float>{21}));
  EXPECT_EQ(values_of(*run({numbers({0}, {1}), 1})), (std::vector<float>{1}));
  EXPECT_EQ(values_of(*run({numbers({5}, {1}), 3})), (std::vector<float>{26}));
}

TEST_F(PlannedMethods, LookIntoNoTensor) {
  use("x: Tensor", "Tensor",
      "    if bool(torch.gt(torch.sum(x), 0)):\n      y = x\n    else:\n      y = torch.neg(x)\n    return "
      "y\n");
  ASSERT_TRUE(add());
  EXPECT_FALSE(run({numbers({1}, {1})}));
  EXPECT_FALSE(run({numbers({1}, {1})}));
  // The machine is as before.
  EXPECT_EQ(values_of(machine_.call(function_, {module_, numbers({-2}, {1})})), (std::vector<float>{2}));
}

TEST_F(PlannedMethods, TakeAndGiveWhatIsNested) {
  use("x: List[Tensor],\n    k: float", "Tuple[Dict[str, Tensor], int]",
      "    y = torch.mul(x[0], k)\n    return ({\"y\": y, \"z\": torch.add(y, x[1])}, torch.len(x))\n");
  ASSERT_TRUE(add());
  const auto list = [](float a, float b) {
    return IValue::list(TypeKind::kTensor, {numbers({a}, {1}), numbers({b}, {1})});
  };
  for (const float a : {2.0F, 3.0F}) {
    const IValue result = *run({list(a, 5), 2.0});
    const script::DictItems& items = result.items().at(0).as_dict().items;
    EXPECT_EQ(values_of(*items.find(IValue("y"))), (std::vector<float>{2 * a}));
    EXPECT_EQ(values_of(*items.find(IValue("z"))), (std::vector<float>{2 * a + 5}));
    EXPECT_EQ(result.items().at(1).as_int(), 2);
  }
  EXPECT_EQ(values_of(*run({list(2, 5), 4.0})->items().at(0).as_dict().items.find(IValue("y"))),
            (std::vector<float>{8}));
}

TEST_F(PlannedMethods, GiveArgumentsThemselves) {
  use("x: Tensor", "Tuple[Tensor, Tensor]", "    return (x, torch.neg(x))\n");
  ASSERT_TRUE(add());
  const IValue x = numbers({1}, {1});
  EXPECT_EQ(run({x})->items().at(0).identity(), x.identity());
  EXPECT_EQ(run({x})->items().at(0).identity(), x.identity());
}

TEST_F(PlannedMethods, GiveViewsOfArgumentsThatAreViews) {
  use("x: Tensor", "Tensor", "    return torch.select(x, 0, 1)\n");
  ASSERT_TRUE(add());
  for (int turn = 0; turn < 2; ++turn) {
    const IValue x = numbers({1, 2, 3, 4}, {2, 2});
    const IValue result = *run({x});
    EXPECT_EQ(values_of(result), (std::vector<float>{3, 4}));
    EXPECT_EQ(result.as_tensor().storage(), x.as_tensor().storage());
  }
}

TEST_F(PlannedMethods, GiveConstantsThatMayBeWrittenTo) {
  use("x: Tensor", "Tensor", "    return CONSTANTS.c0\n");
  ASSERT_TRUE(add());
  const IValue first = *run({numbers({1}, {1})});
  *first.as_tensor().mutable_data<float>() = 9;
  EXPECT_EQ(values_of(*run({numbers({1}, {1})})), (std::vector<float>{1, 2}));
}

TEST_F(PlannedMethods, MayWriteToWhatTheyMade) {
  use("x: Tensor", "Tensor", "    y = torch.add(x, 1)\n    return torch.relu_(torch.mul_(y, x))\n");
  ASSERT_TRUE(add());
  const IValue x = numbers({2, -3}, {2});
  for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(values_of(*run({x})), (std::vector<float>{6, 6}));
  EXPECT_EQ(values_of(x), (std::vector<float>{2, -3}));
}

TEST_F(PlannedMethods, MayNotWriteToArguments) {
  use("x: Tensor", "Tensor", "    return torch.add_(torch.view(x, [-1]), 1)\n");
  EXPECT_FALSE(add());
}

TEST_F(PlannedMethods, MayNotWriteToConstants) {
  use("x: Tensor", "Tensor", "    return torch.add_(CONSTANTS.c0, x)\n");
  EXPECT_FALSE(add());
}

TEST_F(PlannedMethods, MayNotPrint) {
  use("x: Tensor", "Tensor", "    print(x)\n    return x\n");
  EXPECT_FALSE(add());
}

TEST_F(PlannedMethods, LeaveErrorsToTheMachine) {
  use("x: Tensor", "Tensor", "    return torch.add(x, CONSTANTS.c0)\n");
  ASSERT_TRUE(add());
  EXPECT_FALSE(run({numbers({1, 2, 3}, {3})}));
  EXPECT_TRUE(run({numbers({1, 2}, {2})}));
}

}  // namespace
}  // namespace flambeau::planned
