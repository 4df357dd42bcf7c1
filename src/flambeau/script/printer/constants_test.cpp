#include "flambeau/script/printer/constants.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/script/printer/tagged_text.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

std::string text_of(const IValue& value) {
  ConstantTable constants;
  return constant_text(value, constants);
}

Tensor floats(std::initializer_list<float> values) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, std::array{static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.mutable_data<float>());
  return tensor;
}

TEST(ConstantText, Numbers) {
  EXPECT_EQ(text_of(-7), "-7");
  EXPECT_EQ(text_of(3.0), "3.");
  EXPECT_EQ(text_of(-0.0), "-0.");
  EXPECT_EQ(text_of(0.1), "0.10000000000000001");
  EXPECT_EQ(text_of(1e-5), "1.0000000000000001e-05");
  EXPECT_EQ(text_of(1e20), "1e+20");
  // PyTorch leaves the point out, and reads an integer.
  EXPECT_EQ(text_of(1e10), "10000000000.");
  EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text_of(std::nan("")), "nan");
  EXPECT_EQ(text_of(std::complex<double>(2.5, 3)), "2.5+3.j");
  EXPECT_EQ(text_of(std::complex<double>(-1, -0.5)), "-1.-0.5j");
  EXPECT_EQ(text_of(true), "True");
  EXPECT_EQ(text_of({}), "None");
}

TEST(ConstantText, Strings) {
  EXPECT_EQ(text_of("a'\"\\\n\t"), R"("a\'\"\\\n\t")");
  EXPECT_EQ(text_of(std::string("\0\x1f\x7f", 3)), R"("\000\037\177")");
  EXPECT_EQ(text_of("\xc3\xa9"), "CONSTANTS.c0");
  EXPECT_EQ(text_of(IValue::tuple({"a", "\xc3\xa9"})), "CONSTANTS.c0");
}

TEST(ConstantText, Containers) {
  EXPECT_EQ(text_of(IValue::tuple({1, 2.0})), "(1, 2.)");
  EXPECT_EQ(text_of(IValue::tuple({1})), "(1,)");
  EXPECT_EQ(text_of(IValue::list(TypeKind::kInt, {1, 2})), "[1, 2]");
  EXPECT_EQ(text_of(IValue::list(TypeKind::kInt)), "annotate(List[int], [])");
  EXPECT_EQ(text_of(IValue::list(Type::optional(TypeKind::kInt), {1, {}})),
            "annotate(List[Optional[int]], [1, None])");
  IValue dict = IValue::dict(TypeKind::kString, TypeKind::kInt);
  EXPECT_EQ(text_of(dict), "annotate(Dict[str, int],{})");
  dict.as_dict().items.set("a", 1);
  EXPECT_EQ(text_of(dict), R"({"a": 1})");
}

TEST(ConstantText, OthersByName) {
  EXPECT_EQ(text_of(Device{DeviceType::kCuda, 1}), R"(torch.device("cuda:1"))");
  const auto color = std::make_shared<Class>(ClassKind::kEnum, "__torch__.Color");
  EXPECT_EQ(text_of(IValue::enumerator(color, "RED", 1)), "__torch__.Color.RED");
  EXPECT_THROW(text_of(IValue::uninitialized()), Error);
}

TEST(ConstantText, DepthIsBounded) {
  IValue value = 1;
  for (int i = 0; i < 100'000; ++i) value = IValue::tuple({value});
  EXPECT_THROW(text_of(value), Error);
}

TEST(ConstantTable, EqualTensorsAreOne) {
  ConstantTable table;
  EXPECT_EQ(table.add(floats({1, 2})), 0U);
  EXPECT_EQ(table.add(floats({1, 3})), 1U);
  EXPECT_EQ(table.add(floats({1, 2})), 0U);
  EXPECT_EQ(table.add(floats({0})), 2U);
  EXPECT_EQ(table.add(floats({-0.0F})), 2U);
  EXPECT_EQ(table.add(Tensor::zeros(DType::kInt32, std::array<int64_t, 1>{1})), 3U);
  EXPECT_EQ(table.add(floats({std::nanf("")})), 4U);
  EXPECT_EQ(table.add(floats({std::nanf("")})), 5U);
  EXPECT_EQ(table.add("\xc3\xa9"), 6U);
  EXPECT_EQ(table.add("\xc3\xa9"), 7U);
}

TEST(TaggedText, NotesWhereARangeBegins) {
  const auto source = std::make_shared<const Source>("abcdef", "test.py");
  const SourceRange first{source, 0, 2};
  const SourceRange second{source, 2, 4};
  TaggedText inner;
  inner.append("x", first);
  inner.append("y", second);
  TaggedText text;
  text.append("", second);
  text.append("1", first);
  text.append("2", first);
  text.append(inner);
  text.append("3", second);
  EXPECT_EQ(text.text(), "12xy3");
  ASSERT_EQ(text.origins().size(), 2U);
  EXPECT_EQ(text.origins()[0].offset, 0U);
  EXPECT_EQ(text.origins()[0].range, first);
  EXPECT_EQ(text.origins()[1].offset, 3U);
  EXPECT_EQ(text.origins()[1].range, second);
}

}  // namespace
}  // namespace flambeau::script
