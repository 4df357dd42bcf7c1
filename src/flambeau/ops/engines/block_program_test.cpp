// Programs of blocks against the operators one after another: the same bits, whatever types, strides, sizes
// and numbers. And what bodies say of their calls.
#include "flambeau/ops/engines/block_program.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "flambeau/ops/engines/block_test_programs.h"

namespace flambeau::ops {
namespace {

using Programs = BlockPrograms;

TEST_F(Programs, GiveTheBitsOfTheirOperators) {
  const std::vector<const Operator*> operators = with_bodies();
  const Dims shapes[] = {{},       {0},         {1},      {7},    {1, 1},   {3, 5},
                         {4, 300}, {2, 3, 700}, {70, 33}, {5000}, {9000, 3}};
  size_t steps = 0;
  for (unsigned seed = 0; seed < 600; ++seed)
    steps += check(shapes[seed % std::size(shapes)], operators, seed);
  EXPECT_GT(steps, 1500U);
}

TEST_F(Programs, AreSharedAmongThreads) {
  std::vector<const Operator*> operators;
  for (const char* const name : {"aten::mul.Tensor", "aten::add.Tensor", "aten::sigmoid", "aten::where.self"})
    operators.push_back(&library.get(name));
  for (unsigned seed = 0; seed < 4; ++seed) EXPECT_GT(check({300, 1000}, operators, seed), 0U);
}

TEST_F(Programs, StopWhereTheWorkIsCancelled) {
  const Tensor x = ramp({1000, 1000});
  BlockStep step;
  step.body = library.get("aten::sin").body(std::vector<Value>{x}, x);
  step.sources = {{BlockSource::Kind::kInput, 0}};
  step.is_output = true;
  const Tensor inputs[] = {x};
  const std::span<const BlockStep> steps(&step, 1);
  const BlockProgram program(inputs, steps, x);
  const std::atomic<bool> cancel = true;
  const WorkScope scope({.cancel = &cancel});
  const Value given[] = {x};
  const Tensor outputs[] = {ramp({1000, 1000})};
  EXPECT_THROW(program.run(context, given, outputs), Error);
}

TEST_F(Programs, RefuseWhatCannotBe) {
  const Tensor x = ramp({4, 4});
  BlockStep step;
  step.body = library.get("aten::sin").body(std::vector<Value>{x}, x);
  step.sources = {{BlockSource::Kind::kInput, 0}};
  const Tensor inputs[] = {x};
  const std::span<const BlockStep> steps(&step, 1);
  EXPECT_THROW(BlockProgram(inputs, steps, x), Error) << "no results";
  step.is_output = true;
  const Tensor gaps = x.with_geometry({Dims{2, 2}, Dims{4, 2}, 0});
  const Tensor parts[] = {gaps};
  EXPECT_THROW(BlockProgram(parts, steps, gaps), Error) << "not dense";
  const Tensor wide = Tensor::zeros(DType::kFloat32, Dims{64, 64});
  EXPECT_TRUE(BlockProgram::takes(wide, wide));
  EXPECT_FALSE(BlockProgram::takes(wide.with_geometry({Dims{64, 64}, Dims{1, 64}, 0}), wide));
}

// ---- what bodies say

TEST_F(Programs, EveryElementwiseOperatorHasABody) {
  // What they do to an element depends on its place.
  const std::set<std::string_view> by_place = {"aten::tril", "aten::triu"};
  for (const std::string& name : library.names()) {
    const Operator& op = library.get(name);
    if (op.kind != Kind::kKernel || !op.is(Trait::kElementwise) || op.is(Trait::kRandom)) continue;
    EXPECT_EQ(op.body == nullptr, by_place.contains(name)) << name;
  }
  EXPECT_GT(with_bodies().size(), 200U);
}

// For a type that is computed in, a name stands for one loop; and inputs are arguments.
TEST_F(Programs, NamesOfBodiesStandForOneLoop) {
  std::map<std::tuple<std::string, DType, DType>, Row> loops;
  size_t bodies = 0;
  for (const Operator* const op : with_bodies()) {
    for (const DType dtype : kTypes) {
      for (unsigned seed = 0; seed < 6; ++seed) {
        random_.seed(seed);
        const std::vector<Tensor> values = {filled(dtype, Dims{2, 2}), filled(dtype, Dims{2, 2})};
        std::vector<Value> arguments;
        size_t operands = 0;
        for (const SchemaArgument& argument : op->schema.arguments) {
          arguments.push_back(any_argument(argument, values).value_or(Value()));
          const TypeKind kind = argument.type.without_optional().kind();
          operands += kind == TypeKind::kTensor || kind == TypeKind::kNumber ? 1 : 0;
        }
        try {
          const Infos<Size> infos = op->shape(arguments);
          const Tensor out = context.allocate(infos[0]);
          const Body body = op->body(arguments, out);
          ++bodies;
          EXPECT_FALSE(body.name.empty()) << op->name();
          EXPECT_GE(body.inputs().size(), 1U) << op->name();
          const bool is_halved = op->name() == "aten::glu";  // of one argument both halves
          EXPECT_LE(body.inputs().size(), std::max<size_t>(operands, 1) + (is_halved ? 1 : 0)) << op->name();
          const auto [found, is_new] = loops.try_emplace(
              std::tuple(std::string(body.name), body.inputs().back().row, body.row), body.rows.plain);
          EXPECT_EQ(found->second, body.rows.plain) << op->name() << " has the body " << body.name;
        } catch (const Error&) {
          continue;  // not for this type
        }
      }
    }
  }
  EXPECT_GT(bodies, 3000U);
}

TEST_F(Programs, BodiesSayWhereNumbersEnter) {
  const Tensor x = ramp({3});
  const auto body = [&](std::string_view name, const std::vector<Value>& arguments) {
    return library.get(name).body(arguments, x);
  };
  const std::vector<Value> scaled = {x, 2.5, 1};
  const Body sum = body("aten::add.Scalar", scaled);
  EXPECT_EQ(sum.name, "add");
  ASSERT_EQ(sum.inputs().size(), 2U);
  EXPECT_EQ(sum.inputs()[1].tensor, nullptr);
  float number = 0;
  std::memcpy(&number, sum.inputs()[1].number.data(), sizeof(number));
  EXPECT_EQ(number, 2.5F);
  EXPECT_EQ(body("aten::add.Tensor", {x, x, 2}).name, "add_scaled");
  EXPECT_EQ(body("aten::gelu", {x, std::string("tanh")}).name, "gelu_tanh");
  EXPECT_EQ(body("aten::pow.Tensor_Scalar", {x, 2}).name, "square");
  EXPECT_EQ(body("aten::clone", {x, Value()}).rows.plain, nullptr);
  EXPECT_THROW(body("aten::bitwise_not", {x}), Error);
}

}  // namespace
}  // namespace flambeau::ops
