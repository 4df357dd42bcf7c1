// What places in the code keep of their last calls must never be seen: each test makes one call several
// times.
#include "flambeau/interpreter/quick_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

constexpr const char* kQuickCode = R"(def kept(n: int,
    x: Tensor) -> List[Tensor]:
  all = annotate(List[Tensor], [])
  s = x
  for i in range(n):
    s = torch.add(s, x)
    _0 = torch.append(all, s)
  return all
def changed(n: int,
    x: Tensor) -> Tensor:
  for i in range(n):
    s = torch.add(x, x)
    _0 = torch.mul_(s, 3)
    _1 = torch.unsqueeze_(s, 0)
    _2 = torch.add_(s, 1)
  return torch.add(torch.add(x, x), 0)
def both(a: List[Tensor]) -> List[Tensor]:
  all = annotate(List[Tensor], [])
  for i in range(torch.len(a)):
    _0 = torch.append(all, torch.mul(a[i], a[i]))
  return all
def onto_itself(x: Tensor,
    n: int) -> Tensor:
  for i in range(n):
    _0 = torch.add_(x, torch.select(x, 0, 0))
  return x
def twice(x: Tensor,
    n: int) -> Tensor:
  for i in range(n):
    _0 = torch.add_(x, x)
  return x
def by_numbers(x: Tensor,
    numbers: List[float]) -> List[Tensor]:
  all = annotate(List[Tensor], [])
  for i in range(torch.len(numbers)):
    _0 = torch.append(all, torch.mul(x, numbers[i]))
  return all
def rows(x: Tensor,
    n: int) -> Tensor:
  s = x
  for i in range(n):
    _0 = torch.view(s, [-1])
    _1 = torch.fill_(torch.view(s, [-1]), i)
    s = torch.view(s, [2, 2])
  return s
def joined(a: List[Tensor],
    b: List[Tensor]) -> List[Tensor]:
  all = annotate(List[Tensor], [])
  for i in range(torch.len(a)):
    _0 = torch.append(all, torch.cat([a[i], b[i]]))
  return all
def counted(a: List[Tensor]) -> List[int]:
  all = annotate(List[int], [])
  for i in range(torch.len(a)):
    _0 = torch.append(all, torch.size(a[i], -1))
    _1 = torch.append(all, torch.numel(a[i]))
    _2 = torch.append(all, torch.dim(a[i]))
  return all
def sums(x: Tensor) -> List[Tensor]:
  all = annotate(List[Tensor], [])
  for i in range(torch.len(x)):
    _0 = torch.append(all, torch.add(x[i], x[i]))
  return all
)";

class QuickCallTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto source = std::make_shared<const script::Source>(kQuickCode, "code/__torch__.py");
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
  Machine machine_{std::make_shared<const Program>(unit_, std::make_shared<const ops::Library>()), pool_};
};

Tensor floats_of(const Dims& sizes, const std::vector<float>& numbers) {
  Tensor made = Tensor::zeros(DType::kFloat32, sizes);
  std::ranges::copy(numbers, made.mutable_data<float>());
  return made;
}
std::vector<float> numbers_of(const IValue& value) {
  const Tensor tensor = value.as_tensor().to_contiguous();
  return {tensor.data<float>(), tensor.data<float>() + tensor.element_count()};
}

TEST_F(QuickCallTest, ResultsThatAreKeptStay) {
  const IValue all = run("kept", {6, floats_of({2}, {1, 2})});
  for (size_t i = 0; i < 6; ++i) {
    const auto factor = static_cast<float>(i + 2);
    EXPECT_EQ(numbers_of(all.items()[i]), (std::vector<float>{factor, 2 * factor})) << i;
  }
}

TEST_F(QuickCallTest, ResultsThatWereChangedAreMadeAnew) {
  for (int i = 0; i < 3; ++i) {
    const IValue result = run("changed", {5, floats_of({2}, {1, 2})});
    EXPECT_EQ(numbers_of(result), (std::vector<float>{2, 4}));
    EXPECT_EQ(result.as_tensor().sizes(), Dims{2});
  }
}

TEST_F(QuickCallTest, OtherDescriptionsAreOtherCalls) {
  const Tensor row = floats_of({3}, {1, 2, 3}), table = floats_of({2, 2}, {1, 2, 3, 4});
  const Tensor turned = table.with_geometry({{2, 2}, {1, 2}, 0});
  const Tensor behind = row.with_geometry({{2}, {1}, 1});
  Tensor whole = Tensor::zeros(DType::kInt64, Dims{2});
  whole.mutable_data<int64_t>()[1] = 7;
  const IValue all =
      run("both", {IValue::list(TypeKind::kTensor, {row, row, row, table, table, table, turned, turned,
                                                    turned, behind, behind, whole, whole})});
  EXPECT_EQ(numbers_of(all.items()[2]), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(numbers_of(all.items()[5]), (std::vector<float>{1, 4, 9, 16}));
  EXPECT_EQ(numbers_of(all.items()[8]), (std::vector<float>{1, 9, 4, 16}));
  EXPECT_EQ(numbers_of(all.items()[10]), (std::vector<float>{4, 9}));
  EXPECT_EQ(all.items()[12].as_tensor().data<int64_t>()[1], 49);
}

TEST_F(QuickCallTest, WritesOntoWhatItReads) {
  EXPECT_EQ(numbers_of(run("onto_itself", {floats_of({3}, {1, 2, 3}), 3})), (std::vector<float>{8, 9, 10}));
  EXPECT_EQ(numbers_of(run("twice", {floats_of({3}, {1, 2, 3}), 4})), (std::vector<float>{16, 32, 48}));
}

TEST_F(QuickCallTest, PartsOfOneMemoryAreReadWhereTheyBegin) {
  const IValue all = run("sums", {floats_of({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})});
  for (size_t i = 0; i < 4; ++i) {
    const auto first = static_cast<float>(4 * i + 2);
    EXPECT_EQ(numbers_of(all.items()[i]), (std::vector<float>{first, first + 2})) << i;
  }
}

TEST_F(QuickCallTest, ListsOfTensorsAreComparedOneByOne) {
  const Tensor one = floats_of({1}, {1}), two = floats_of({2}, {2, 3}), other = floats_of({2}, {4, 5});
  const IValue all =
      run("joined", {IValue::list(TypeKind::kTensor, {one, one, one, two, two, other, one}),
                     IValue::list(TypeKind::kTensor, {two, other, two, two, one, one, other})});
  const std::vector<std::vector<float>> expected = {{1, 2, 3}, {1, 4, 5}, {1, 2, 3}, {2, 3, 2, 3},
                                                    {2, 3, 1}, {4, 5, 1}, {1, 4, 5}};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(numbers_of(all.items()[i]), expected[i]) << i;
}

TEST_F(QuickCallTest, SizesAreThoseOfTheTensor) {
  const Tensor row = floats_of({3}, {1, 2, 3}), table = floats_of({2, 2}, {1, 2, 3, 4});
  const IValue numbers =
      run("counted", {IValue::list(TypeKind::kTensor, {row, row, row, table, table, table, row})});
  std::vector<int64_t> said;
  for (const IValue& number : numbers.items()) said.push_back(number.as_int());
  EXPECT_EQ(said, (std::vector<int64_t>{3, 3, 1, 3, 3, 1, 3, 3, 1, 2, 4, 2, 2, 4, 2, 2, 4, 2, 3, 3, 1}));
}

TEST_F(QuickCallTest, ZerosHaveSigns) {
  const IValue numbers = IValue::list(TypeKind::kFloat, {0.0, 0.0, -0.0, 0.0, 2.0, 2.0, 2.0, 3.0});
  const IValue all = run("by_numbers", {floats_of({1}, {1}), numbers});
  EXPECT_FALSE(std::signbit(numbers_of(all.items()[1])[0]));
  EXPECT_TRUE(std::signbit(numbers_of(all.items()[2])[0]));
  EXPECT_FALSE(std::signbit(numbers_of(all.items()[3])[0]));
  EXPECT_EQ(numbers_of(all.items()[6])[0], 2.0F);
  EXPECT_EQ(numbers_of(all.items()[7])[0], 3.0F);
}

TEST_F(QuickCallTest, ViewsAreOfTheirOwnBase) {
  const Tensor x = floats_of({2, 2}, {1, 2, 3, 4});
  const IValue result = run("rows", {x, 4});
  EXPECT_EQ(numbers_of(result), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(result.as_tensor().storage(), x.storage());
  const Tensor other = floats_of({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(run("rows", {other, 0}).as_tensor().storage(), other.storage());
  EXPECT_EQ(run("rows", {other, 2}).as_tensor().storage(), other.storage());
  EXPECT_EQ(numbers_of(IValue(x)), (std::vector<float>{3, 3, 3, 3}));
}

}  // namespace
}  // namespace flambeau::interpreter
