#include "flambeau/value/operator_name.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

TEST(OperatorName, HasTwoSpellings) {
  const OperatorName add = parse_operator_name("aten::add.Tensor");
  EXPECT_EQ(add, (OperatorName{"aten::add", "Tensor"}));
  EXPECT_EQ(add.name_space(), "aten");
  EXPECT_EQ(add.base_name(), "add");
  EXPECT_EQ(add.to_string(), "aten::add.Tensor");
  EXPECT_EQ(add.to_python(), "torch.ops.aten.add.Tensor");
  EXPECT_EQ(parse_python_operator("torch.ops.aten.add.Tensor"), add);
  EXPECT_EQ(parse_python_operator("aten.add.Tensor"), add);
}

TEST(OperatorName, TheDefaultOverloadHasNoName) {
  const OperatorName relu{"aten::relu", ""};
  EXPECT_EQ(parse_operator_name("aten::relu"), relu);
  EXPECT_EQ(parse_operator_name("aten::relu.default"), relu);
  EXPECT_EQ(parse_python_operator("torch.ops.aten.relu.default"), relu);
  EXPECT_EQ(relu.to_string(), "aten::relu");
  EXPECT_EQ(relu.to_python(), "torch.ops.aten.relu.default");
}

TEST(OperatorName, WhatIsNoOperator) {
  for (const std::string_view text :
       {"", "torch.ops.", "torch.ops.higher_order.cond", "_operator.add", "torch.ops.aten.add.Tensor.x",
        "torch.ops.aten..Tensor", "torch.ops.aten.add.", "aten.a b.c", "aten.1.c", "a::b.c"}) {
    EXPECT_FALSE(find_python_operator(text)) << text;
  }
  try {
    parse_python_operator("torch.ops.higher_order.cond");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "'torch.ops.higher_order.cond' is not an operator of torch.ops (write it as "
                 "torch.ops.aten.add.Tensor, or torch.ops.aten.relu.default)");
  }
  for (const std::string_view text : {"", "relu", "aten::", "::relu", "aten::relu.", "aten::re lu", "a::b::c",
                                      "aten::relu.x.y", "aten.relu::x"}) {
    EXPECT_THROW(parse_operator_name(text), Error) << text;
  }
}

}  // namespace
}  // namespace flambeau
