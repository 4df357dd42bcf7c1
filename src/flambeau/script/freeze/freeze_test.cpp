#include "flambeau/script/freeze/freeze.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

// A class with these slots and methods, as archives have it.
std::string class_text(const std::string& name, const std::string& slots, const std::string& methods) {
  return "class " + name + "(Module):\n  __parameters__ = []\n  __buffers__ = []\n" + slots + methods;
}

std::string method_text(const std::string& of, const std::string& body, const std::string& name = "forward",
                        const std::string& result = "Tensor") {
  return "  def " + name + "(self: __torch__." + of + ",\n    x: Tensor) -> " + result + ":\n" + body;
}

Tensor tensor_of(float value) {
  const int64_t sizes[] = {1};
  Tensor tensor = Tensor::zeros(DType::kFloat32, sizes);
  *tensor.mutable_data<float>() = value;
  return tensor;
}

class Freeze : public testing::Test {
 protected:
  void use(const std::string& text) {
    compiler::ArchiveCode code;
    code.find_text = [text](std::string_view qualifier) -> std::shared_ptr<const Source> {
      if (qualifier != "__torch__") return nullptr;
      return std::make_shared<Source>(text, "code/__torch__.py");
    };
    code.version = 10;
    compiler::use_archive_code(unit_, std::move(code));
  }
  IValue object(const std::string& name, std::vector<IValue> slots) {
    IValue made = IValue::object(unit_.find_class("__torch__." + name));
    made.as_object().slots = std::move(slots);
    return made;
  }

  // The class that the module becomes, without the lines that all have.
  std::string frozen(const IValue& module, const std::vector<std::string>& preserved = {}) {
    frozen_ = freeze_module(unit_, module, preserved);
    return printed(frozen_);
  }
  std::string printed(const IValue& module) {
    constants_ = ConstantTable();
    Dependencies dependencies;
    CodePrinter printer(unit_, constants_, dependencies, {});
    printer.print(*module.as_object().type);
    std::string text = printer.text();
    for (const std::string_view gone : {"  __parameters__ = []\n", "  __buffers__ = []\n"}) {
      if (const size_t at = text.find(gone); at != std::string::npos) text.erase(at, gone.size());
    }
    return text;
  }
  std::string error(const IValue& module, const std::vector<std::string>& preserved = {}) {
    try {
      return frozen(module, preserved);
    } catch (const Error& refused) {
      return refused.message();
    }
  }

  Unit unit_{std::make_shared<const SchemaTable>()};
  ConstantTable constants_;
  IValue frozen_;
};

// What printed() begins with, for a class that has become "___torch_mangle_0".
std::string forward_of(const std::string& of, const std::string& body, const std::string& result = "Tensor") {
  return "class " + of + "(Module):\n" + method_text("___torch_mangle_0." + of, body, "forward", result);
}

constexpr char kScaled[] =
    "    scale = self.scale\n"
    "    return torch.mul(x, scale)\n";

TEST_F(Freeze, NumbersBecomeConstants) {
  use(class_text("M", "  scale : float\n", method_text("M", kScaled)));
  EXPECT_EQ(frozen(object("M", {0.5})), forward_of("M", "    return torch.mul(x, 0.5)\n"));
}

TEST_F(Freeze, TensorsBecomeConstantsThatNeedNoGradient) {
  use(class_text("M", "  scale : Tensor\n", method_text("M", kScaled)));
  Tensor scale = tensor_of(2);
  scale.set_requires_grad(true);
  EXPECT_EQ(frozen(object("M", {scale})), forward_of("M", "    return torch.mul(x, CONSTANTS.c0)\n"));
  const auto graph = (*frozen_.as_object().type->find_method("forward"))->graph();
  const ir::Node* const constant = graph->block().first();
  ASSERT_TRUE(constant->constant.is(IValue::Tag::kTensor));
  EXPECT_FALSE(constant->constant.as_tensor().requires_grad());
  EXPECT_EQ(constant->constant.as_tensor().storage(), scale.storage());
}

TEST_F(Freeze, MethodsOfModulesAreInlined) {
  use(class_text("N", "  scale : float\n", method_text("N", kScaled)) +
      class_text("M", "  a : __torch__.N\n  b : __torch__.N\n",
                 method_text("M",
                             "    a = self.a\n    b = self.b\n"
                             "    return (b).forward((a).forward(x, ), )\n")));
  EXPECT_EQ(frozen(object("M", {object("N", {2.0}), object("N", {3.0})})),
            forward_of("M", "    return torch.mul(torch.mul(x, 2.), 3.)\n"));
  EXPECT_TRUE(frozen_.as_object().slots.empty());
}

TEST_F(Freeze, BranchesOnAttributesAreDecided) {
  use(class_text("M", "  training : bool\n",
                 method_text("M",
                             "    training = self.training\n"
                             "    if training:\n      y = torch.relu(x)\n    else:\n      y = torch.neg(x)\n"
                             "    return y\n")));
  EXPECT_EQ(frozen(object("M", {false})), forward_of("M", "    return torch.neg(x)\n"));
}

TEST_F(Freeze, WritesThatAreNeverReachedKeepNothing) {
  use(class_text("M", "  training : bool\n  count : Tensor\n",
                 method_text("M",
                             "    training = self.training\n    count = self.count\n"
                             "    if training:\n      _0 = torch.add_(count, 1)\n    else:\n      pass\n"
                             "    return torch.add(x, count)\n")));
  EXPECT_EQ(frozen(object("M", {false, tensor_of(0)})),
            forward_of("M", "    return torch.add(x, CONSTANTS.c0)\n"));
}

TEST_F(Freeze, TensorsThatAreWrittenToStay) {
  use(class_text("N", "  count : Tensor\n  scale : float\n",
                 method_text("N",
                             "    count = self.count\n    scale = self.scale\n"
                             "    _0 = torch.add_(torch.view(count, [1]), 1)\n"
                             "    return torch.mul(torch.add(x, count), scale)\n")) +
      class_text("M", "  n : __torch__.N\n",
                 method_text("M", "    n = self.n\n    return (n).forward(x, )\n")));
  const IValue module = object("M", {object("N", {tensor_of(0), 2.0})});
  EXPECT_EQ(frozen(module), "class M(Module):\n  n : __torch__.___torch_mangle_0.N\n" +
                                method_text("___torch_mangle_0.M",
                                            "    n = self.n\n    count = n.count\n"
                                            "    _0 = torch.add_(torch.view(count, [1]), 1)\n"
                                            "    return torch.mul(torch.add(x, count), 2.)\n"));
  const IValue inner = frozen_.as_object().slots.at(0);
  EXPECT_EQ(printed(inner), "class N(Module):\n  count : Tensor\n");
  EXPECT_EQ(inner.as_object().slots.at(0).identity(),
            module.as_object().slots.at(0).as_object().slots.at(0).identity());
}

TEST_F(Freeze, TensorsThatShareMemoryWithAWrittenOneStay) {
  use(class_text("M", "  a : Tensor\n  b : Tensor\n  c : Tensor\n",
                 method_text("M",
                             "    a = self.a\n    b = self.b\n    c = self.c\n    _0 = torch.add_(a, x)\n"
                             "    return torch.add(b, c)\n")));
  const Tensor shared = tensor_of(1);
  const std::string text = frozen(object("M", {shared, shared, tensor_of(2)}));
  EXPECT_NE(text.find("torch.add(b, CONSTANTS.c0)"), std::string::npos) << text;
  EXPECT_EQ(frozen_.as_object().slots.size(), 2U);
}

TEST_F(Freeze, AttributesThatAreAssignedStay) {
  use(class_text("M", "  turn : int\n  step : int\n",
                 method_text("M",
                             "    turn = self.turn\n    step = self.step\n"
                             "    self.turn = torch.add(turn, step)\n"
                             "    return torch.add(x, turn)\n")));
  EXPECT_EQ(frozen(object("M", {0, 3})),
            "class M(Module):\n  turn : int\n" + method_text("___torch_mangle_0.M",
                                                             "    turn = self.turn\n"
                                                             "    self.turn = torch.add(turn, 3)\n"
                                                             "    return torch.add(x, turn)\n"));
}

TEST_F(Freeze, PreservedAttributesAndMethodsStay) {
  use(class_text("N", "  scale : float\n", method_text("N", kScaled)) +
      class_text("M", "  n : __torch__.N\n  bias : float\n  gone : float\n",
                 method_text("M",
                             "    n = self.n\n    bias = self.bias\n"
                             "    return torch.add((n).forward(x, ), bias)\n") +
                     method_text("M", "    return torch.neg(x)\n", "other") +
                     method_text("M", "    return torch.abs(x)\n", "unused")));
  EXPECT_EQ(frozen(object("M", {object("N", {2.0}), 1.0, 4.0}), {"bias", "n.scale", "other"}),
            "class M(Module):\n  n : __torch__.___torch_mangle_0.N\n  bias : float\n" +
                method_text("___torch_mangle_0.M",
                            "    n = self.n\n    bias = self.bias\n    scale = n.scale\n"
                            "    _0 = torch.add(torch.mul(x, scale), bias)\n    return _0\n") +
                method_text("___torch_mangle_0.M", "    return torch.neg(x)\n", "other"));
}

TEST_F(Freeze, DropoutIsNothing) {
  use(class_text("M", "  training : bool\n",
                 method_text("M",
                             "    training = self.training\n"
                             "    return torch.relu(torch.dropout(x, 0.5, training))\n")));
  EXPECT_EQ(frozen(object("M", {false})), forward_of("M", "    return torch.relu(x)\n"));
}

TEST_F(Freeze, ListsOfNumbersAreKnown) {
  use(class_text("M", "  sizes : List[int]\n",
                 method_text("M",
                             "    sizes = self.sizes\n"
                             "    y = torch.add(x, torch.add(sizes[1], torch.len(sizes)))\n"
                             "    return torch.view(y, sizes)\n")));
  EXPECT_EQ(frozen(object("M", {IValue::list(TypeKind::kInt, {2, 5})})),
            forward_of("M", "    _0 = [2, 5]\n    y = torch.add(x, 7)\n    return torch.view(y, _0)\n"));
}

TEST_F(Freeze, ListsThatGrowStay) {
  use(class_text("M", "  seen : List[int]\n",
                 method_text("M",
                             "    seen = self.seen\n    _0 = torch.append(seen, 1)\n"
                             "    return torch.add(x, torch.len(seen))\n")));
  frozen(object("M", {IValue::list(TypeKind::kInt, {2})}));
  EXPECT_EQ(frozen_.as_object().slots.size(), 1U);
}

TEST_F(Freeze, WhatIsOptionalIsKnown) {
  use(class_text("M", "  bias : Optional[Tensor]\n",
                 method_text("M",
                             "    bias = self.bias\n"
                             "    if torch.__isnot__(bias, None):\n"
                             "      bias0 = unchecked_cast(Tensor, bias)\n      y = torch.add(x, bias0)\n"
                             "    else:\n      y = x\n    return y\n")));
  EXPECT_EQ(frozen(object("M", {IValue()})), forward_of("M", "    return x\n"));
  EXPECT_EQ(
      frozen(object("M", {tensor_of(1)})),
      "class M(Module):\n" + method_text("___torch_mangle_1.M", "    return torch.add(x, CONSTANTS.c0)\n"));
}

TEST_F(Freeze, ModulesBehindInterfacesAreInlined) {
  use("class I(ModuleInterface):\n  def forward(self,\n    x: Tensor) -> Tensor:\n    pass\n" +
      class_text("N", "  scale : float\n", method_text("N", kScaled)) +
      class_text("M", "  i : __torch__.I\n",
                 method_text("M", "    i = self.i\n    return (i).forward(x, )\n")));
  EXPECT_EQ(frozen(object("M", {object("N", {2.0})})), forward_of("M", "    return torch.mul(x, 2.)\n"));
}

TEST_F(Freeze, SaysWhatItCannotDo) {
  use(class_text("M", "  training : bool\n  scale : float\n", method_text("M", kScaled)) +
      class_text("Empty", "  scale : float\n", ""));
  EXPECT_EQ(error(object("M", {true, 1.0})), "a module in training mode cannot be frozen");
  EXPECT_EQ(error(object("M", {false, 1.0}), {"shift"}), "__torch__.M has no method or attribute 'shift'");
  EXPECT_EQ(error(object("M", {false, 1.0}), {"scale.x"}),
            "'scale.x' leads through something that is no object");
  EXPECT_EQ(error(object("Empty", {1.0})), "__torch__.Empty has no method forward");
}

}  // namespace
}  // namespace flambeau::script
