// Programs of blocks as C: what has code, what has none, and what makes two of them the same. Whether the
// numbers are right, aot/kernels/kernels_test.cpp says.
#include "flambeau/ops/engines/block_code.h"

#include <gtest/gtest.h>

#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {
namespace {

class Code : public OperatorTest {
 protected:
  // The operator over the first of its arguments, which is the program's input, or the step before.
  void add(std::string_view name, const std::vector<Value>& arguments, DType result) {
    const Tensor out = Tensor::zeros(result, arguments[0].tensor().sizes());
    BlockStep step;
    step.body = library.get(name).body(arguments, out);
    for (const Input& input : step.body.inputs()) {
      step.sources.push_back(input.tensor == nullptr ? BlockSource{}
                             : steps.empty()         ? BlockSource{BlockSource::Kind::kInput, 0}
                                             : BlockSource{BlockSource::Kind::kStep, steps.size() - 1});
    }
    step.dtype = result;
    step.is_output = true;
    if (!steps.empty()) steps.back().is_output = false;
    steps.push_back(std::move(step));
  }
  std::optional<BlockCode> code(DType input, bool is_single = false) const {
    const BlockOperand operands[] = {{input, is_single}};
    return block_code(operands, steps);
  }
  std::string text(DType input, bool is_single = false) const {
    const std::optional<BlockCode> made = code(input, is_single);
    return made ? made->text : "";
  }

  std::vector<BlockStep> steps;
};

TEST_F(Code, NumbersAreArguments) {
  const Tensor x = Tensor::zeros(DType::kFloat32, Dims{4});
  add("aten::mul.Scalar", {x, 2.5}, DType::kFloat32);
  const std::string first = text(DType::kFloat32);
  ASSERT_EQ(code(DType::kFloat32)->constants.size(), 1U);
  EXPECT_EQ(code(DType::kFloat32)->constants[0].input, std::optional<size_t>(1));
  EXPECT_EQ(first.find("2.5"), std::string::npos);
  steps.clear();
  add("aten::mul.Scalar", {Tensor::zeros(DType::kFloat32, Dims{7, 3}), -1.0}, DType::kFloat32);
  EXPECT_EQ(text(DType::kFloat32), first);
  EXPECT_NE(text(DType::kFloat32, true), first);
  EXPECT_NE(text(DType::kFloat64), first);
  steps.clear();
  add("aten::leaky_relu", {x, 0.25}, DType::kFloat32);
  EXPECT_FALSE(code(DType::kFloat32)->constants[0].input.has_value());
}

TEST_F(Code, LongFunctionsHaveLoopsOfTheirOwn) {
  const Tensor x = Tensor::zeros(DType::kFloat32, Dims{4});
  const auto loops = [&] {
    const std::string made = text(DType::kFloat32);
    size_t count = 0;
    for (size_t at = made.find("LOOP"); at != std::string::npos; at = made.find("LOOP", at + 1)) ++count;
    return count;
  };
  add("aten::exp", {x}, DType::kFloat32);
  add("aten::neg", {x}, DType::kFloat32);
  add("aten::abs", {x}, DType::kFloat32);
  EXPECT_EQ(loops(), 1U);
  add("aten::tanh", {x}, DType::kFloat32);
  add("aten::neg", {x}, DType::kFloat32);
  EXPECT_EQ(loops(), 2U);
  EXPECT_NE(text(DType::kFloat32).find("t2[i - begin] = r2;"), std::string::npos);
}

TEST_F(Code, SomeProgramsHaveNone) {
  const auto has = [&](std::string_view name, DType from, DType to, const std::vector<Value>& more = {}) {
    steps.clear();
    std::vector<Value> arguments = {Tensor::zeros(from, Dims{4})};
    arguments.insert(arguments.end(), more.begin(), more.end());
    add(name, arguments, to);
    return code(from).has_value();
  };
  EXPECT_TRUE(has("aten::exp", DType::kBFloat16, DType::kBFloat16));
  EXPECT_FALSE(has("aten::exp", DType::kFloat16, DType::kFloat16));
  EXPECT_FALSE(has("aten::exp", DType::kComplex64, DType::kComplex64));
  EXPECT_FALSE(has("aten::sin", DType::kFloat32, DType::kFloat32));
  EXPECT_TRUE(has("aten::exp2", DType::kFloat32, DType::kFloat32));
  EXPECT_FALSE(has("aten::exp2", DType::kFloat64, DType::kFloat64));
  EXPECT_TRUE(has("aten::mul.Scalar", DType::kInt32, DType::kInt32, {3}));
  EXPECT_FALSE(has("aten::remainder.Scalar", DType::kInt32, DType::kInt32, {3}));  // may throw
}

}  // namespace
}  // namespace flambeau::ops
