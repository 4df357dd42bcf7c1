#include "flambeau/graph/values.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/graph.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;

// What goes there comes back.
TEST(Values, ThereAndBack) {
  Graph graph;
  Value& a = graph.add_value("a", TensorMeta());
  const Tensor tensor = Tensor::zeros(DType::kFloat32, Dims{2});
  const ValueNames names{
      .tensor = [&](const Tensor&) { return Argument::tensor(a); },
      .tensor_in_list = [&](const Tensor&) -> Value& { return a; },
      .number = [](const flambeau::SymInt& number) { return SymArgument<int64_t>(number.literal()); }};
  const auto find = [&](const Value&) { return flambeau::Value(tensor); };
  const std::vector<std::pair<flambeau::Value, K>> cases = {
      {flambeau::Value(), K::kNone},
      {tensor, K::kTensor},
      {TensorList{tensor, tensor}, K::kTensors},
      {TensorList{tensor, Tensor()}, K::kOptionalTensors},
      {int64_t{7}, K::kInt},
      {Dims{1, 2}, K::kInts},
      {2.5, K::kFloat},
      {std::vector<double>{1, 2}, K::kFloats},
      {true, K::kBool},
      {std::vector<bool>{true, false}, K::kBools},
      {std::complex<double>(1, 2), K::kComplex},
      {std::string("x"), K::kString},
      {std::vector<std::string>{"x", "y"}, K::kStrings},
      {DType::kInt8, K::kScalarType},
      {Device{DeviceType::kCuda, 1}, K::kDevice},
      {Layout::kStrided, K::kLayout},
      {MemoryFormat::kChannelsLast, K::kMemoryFormat},
      {flambeau::SymInt(3), K::kInt},
      {SymIntList{3, 4}, K::kInts},
  };
  for (const auto& [value, kind] : cases) {
    const Argument argument = from_value(value, names);
    EXPECT_EQ(argument.kind(), kind) << value.kind_name();
    EXPECT_EQ(to_value(argument, find).summary(), value.summary());
  }
  EXPECT_EQ(from_value(ValueList{2.5, 1.0}, names).kind(), K::kFloats);
  EXPECT_EQ(from_value(ValueList{int64_t{2}, int64_t{1}}, names).kind(), K::kInts);
  EXPECT_THROW(from_value(ValueList{2.5, int64_t{1}}, names), Error);
  try {
    from_value(Object{"mine", nullptr}, names);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a program cannot hold an argument of kind object");
  }
}

TEST(Values, ListsAreWhatTheirItemsAre) {
  using Kind = ArgumentParts::Kind;
  EXPECT_TRUE(join_items(Kind::kIntegers, {int64_t{1}, true}).is<Dims>());
  EXPECT_TRUE(join_items(Kind::kIntegers, {int64_t{1}, flambeau::SymInt(2)}).is<SymIntList>());
  EXPECT_TRUE(join_items(Kind::kTensors, {flambeau::Value()}).is<TensorList>());
  EXPECT_TRUE(join_items(Kind::kTensors, {int64_t{1}}).is<ValueList>());
  Graph graph;
  Value& n = graph.add_value("n", SymInt(4));
  std::vector<SymArgument<int64_t>> numbers;
  numbers.emplace_back(n);
  numbers.emplace_back(5);
  const Argument argument = Argument::make<K::kSymInts>(std::move(numbers));
  EXPECT_EQ(to_value(argument, [](const Value&) { return flambeau::Value(int64_t{9}); }).summary(), "[9, 5]");
}

}  // namespace
}  // namespace flambeau::graph
