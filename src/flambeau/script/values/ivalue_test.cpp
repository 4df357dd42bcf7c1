#include "flambeau/script/values/ivalue.h"

#include <gtest/gtest.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

TEST(IValue, SharesListsAndCopiesNumbers) {
  const IValue list = IValue::list(TypeKind::kInt, {1, 2});
  const IValue same = list;
  same.items().emplace_back(3);
  EXPECT_EQ(list.items().size(), 3U);
  EXPECT_EQ(list.identity(), same.identity());
  EXPECT_EQ(list.owners(), 2U);
  EXPECT_EQ(IValue(5).owners(), 1U);
  EXPECT_EQ(IValue(5).identity(), nullptr);
  IValue moved = IValue("text");
  IValue taken = std::move(moved);
  EXPECT_EQ(taken.as_string(), "text");
  EXPECT_EQ(taken.owners(), 1U);
}

TEST(IValue, SaysWhatItIsInstead) {
  try {
    IValue::list(Type::optional(TypeKind::kTensor)).as_string();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "expected str, found List[Optional[Tensor]]");
  }
  EXPECT_THROW(IValue(1).as_float(), Error);
  EXPECT_EQ(IValue::dict(TypeKind::kString, TypeKind::kInt).kind_name(), "Dict[str, int]");
  EXPECT_EQ(IValue().kind_name(), "None");
  EXPECT_EQ(IValue(std::complex<double>(1, 2)).as_complex(), std::complex<double>(1, 2));
}

TEST(IValue, FreesChainsThatAreLongerThanTheStack) {
  IValue chain = IValue::tuple({});
  for (int i = 0; i < 1'000'000; ++i) chain = IValue::list(TypeKind::kAny, {std::move(chain)});
  EXPECT_EQ(chain.owners(), 1U);
  chain = IValue();

  IValue futures = IValue(1);
  for (int i = 0; i < 200'000; ++i)
    futures = IValue::awaitable(TypeKind::kAny, [held = std::move(futures)] { return held; });
  EXPECT_TRUE(futures.as_future().is_await);
}

TEST(IValue, MakesObjectsWithEmptySlots) {
  const auto made = std::make_shared<Class>(ClassKind::kPlain, "__torch__.C");
  made->attributes = {{"x", TypeKind::kInt}, {"y", TypeKind::kString}};
  const IValue object = IValue::object(made);
  EXPECT_EQ(object.as_object().slots.size(), 2U);
  EXPECT_TRUE(object.as_object().slots[1].is_none());
  EXPECT_EQ(object.kind_name(), "__torch__.C");
}

TEST(DictItems, KeepsTheOrderOfInsertion) {
  DictItems items;
  for (int i = 0; i < 100; ++i) items.set(i, i * 2);
  EXPECT_EQ(items.size(), 100U);
  for (int i = 0; i < 100; i += 2) EXPECT_TRUE(items.remove(i));
  EXPECT_FALSE(items.remove(0));
  EXPECT_EQ(items.find(2), nullptr);
  items.set(3, 7);
  items.set(0, 9);
  EXPECT_EQ(items.size(), 51U);
  const std::vector<DictItems::Entry> entries = items.entries();
  EXPECT_EQ(entries[0].key.as_int(), 1);
  EXPECT_EQ(entries[1].value.as_int(), 7);
  EXPECT_EQ(entries.back().key.as_int(), 0);
  EXPECT_EQ(items.take_last().value.as_int(), 9);
  EXPECT_EQ(items.find(0), nullptr);
  for (int turn = 0; turn < 1000; ++turn) {
    items.set(1000, turn);
    EXPECT_EQ(items.take_last().value.as_int(), turn);
  }
  items.clear();
  EXPECT_EQ(items.size(), 0U);
  EXPECT_EQ(items.find(1), nullptr);
}

TEST(DictItems, ComparesKeysByValue) {
  DictItems items;
  items.set("a", 1);
  items.set(std::string("b"), 2);
  EXPECT_EQ(items.find(IValue(std::string("a")))->as_int(), 1);
  DictItems numbers;
  numbers.set(0.0, 1);
  EXPECT_NE(numbers.find(-0.0), nullptr);
  numbers.set(std::numeric_limits<double>::quiet_NaN(), 2);
  EXPECT_EQ(numbers.find(std::numeric_limits<double>::quiet_NaN()), nullptr);
  EXPECT_THROW(numbers.set(IValue::list(TypeKind::kInt), 1), Error);
}

TEST(DictItems, ManyKeysStayQuick) {
  DictItems items;
  for (int64_t i = 0; i < 200'000; ++i) items.set(i << 20, i);
  for (int64_t i = 0; i < 200'000; ++i) ASSERT_EQ(items.find(i << 20)->as_int(), i);
}

TEST(EqualKeys, ComparesContainersByValue) {
  const IValue a = IValue::list(TypeKind::kAny, {1, "x", IValue::tuple({2.5, IValue()})});
  const IValue b = IValue::list(TypeKind::kAny, {1, "x", IValue::tuple({2.5, IValue()})});
  EXPECT_TRUE(equal_keys(a, b));
  b.items().emplace_back(1);
  EXPECT_FALSE(equal_keys(a, b));
  const IValue first = IValue::dict(TypeKind::kString, TypeKind::kInt);
  const IValue second = IValue::dict(TypeKind::kString, TypeKind::kInt);
  first.as_dict().items.set("a", 1);
  first.as_dict().items.set("b", 2);
  second.as_dict().items.set("b", 2);
  second.as_dict().items.set("a", 1);
  EXPECT_TRUE(equal_keys(first, second));
}

TEST(EqualKeys, RefusesWhatCannotBeWalkedThrough) {
  IValue a = IValue::tuple({1});
  IValue b = IValue::tuple({1});
  for (int i = 0; i < 300; ++i) {
    a = IValue::tuple({a});
    b = IValue::tuple({b});
  }
  EXPECT_THROW(equal_keys(a, b), Error);
  a = b = IValue();
  const IValue loop = IValue::list(TypeKind::kAny);
  const IValue other = IValue::list(TypeKind::kAny);
  loop.items().push_back(loop);
  other.items().push_back(other);
  EXPECT_THROW(equal_keys(loop, other), Error);
  loop.items().clear();
  other.items().clear();
}

}  // namespace
}  // namespace flambeau::script
