#include "flambeau/formats/torchscript/value_pickler.h"

#include <gtest/gtest.h>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/test_modules.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using namespace std::string_literals;

class ValuePicklerTest : public ::testing::Test {
 protected:
  std::string write(const IValue& value) { return pickler_.pickle(value); }

  SaveHooks hooks_;
  KeptStates kept_;
  ValuePickler pickler_{hooks_, kept_};
};

// Everything between PROTO 2 and STOP.
std::string inside(const std::string& bytes) { return bytes.substr(2, bytes.size() - 3); }

TEST_F(ValuePicklerTest, WritesPlainValues) {
  EXPECT_EQ(inside(write({})), "N");
  EXPECT_EQ(inside(write(true)), "\x88");
  EXPECT_EQ(inside(write(300)), "M\x2c\x01"s);
  EXPECT_EQ(inside(write("a")), "X\1\0\0\0aq\0"s);
  EXPECT_EQ(inside(write(Device{})), "ctorch\ndevice\nq\0X\3\0\0\0cpuq\1\x85Rq\2"s);
  EXPECT_EQ(inside(write(IValue::tuple({1, 2}))), "K\1K\2\x86");
}

TEST_F(ValuePicklerTest, WritesTypedLists) {
  EXPECT_EQ(inside(write(IValue::list(TypeKind::kInt, {1}))),
            "ctorch.jit._pickle\nbuild_intlist\nq\0(](K\1etR"s);
  EXPECT_EQ(inside(write(IValue::list(TypeKind::kString))),
            "ctorch.jit._pickle\nrestore_type_tag\nq\0](eX\x09\0\0\0List[str]q\1\x86R"s);
}

TEST_F(ValuePicklerTest, RemembersWhatHasASecondOwner) {
  const IValue shared = IValue::list(TypeKind::kInt, {1});
  const std::string twice = write(IValue::tuple({shared, shared}));
  EXPECT_NE(twice.find("etRq\1h\1\x86"), std::string::npos);
  const Tensor tensor = Tensor::zeros(DType::kFloat32, Dims{2});
  EXPECT_EQ(inside(write(IValue::tuple({IValue(tensor)}))).back(), '\x85');
  // A list of tensors is copied to be written, so that they have one.
  EXPECT_NE(write(IValue::list(TypeKind::kTensor, {tensor})).find("Rq\10et"), std::string::npos);
}

TEST_F(ValuePicklerTest, SharesStorages) {
  const Tensor whole = Tensor::zeros(DType::kFloat32, Dims{4});
  const Tensor part = whole.with_geometry({{2}, {1}, 1});
  write(IValue::tuple({whole, part, Tensor::zeros(DType::kInt64, Dims{1})}));
  ASSERT_EQ(pickler_.storages().size(), 2U);
  EXPECT_EQ(pickler_.storages()[0].storage(), whole.storage());
}

TEST_F(ValuePicklerTest, MeetsClassesBeforeWhatTheyHold) {
  const std::shared_ptr<Unit> unit = testing::make_unit();
  const auto outer =
      testing::make_class(*unit, ClassKind::kModule, "__torch__.m.Outer", {{"inner", TypeKind::kAny}});
  const auto inner = testing::make_class(*unit, ClassKind::kModule, "__torch__.Inner", {});
  const IValue object = IValue::object(outer);
  object.as_object().slots[0] = IValue::object(inner);
  const std::string bytes = write(object);
  ASSERT_EQ(pickler_.classes().size(), 2U);
  EXPECT_EQ(pickler_.classes()[0].name, "__torch__.m.Outer");
  EXPECT_EQ(pickler_.classes()[1].name, "__torch__.Inner");
  EXPECT_EQ(inside(bytes),
            "c__torch__.m\nOuter\nq\0)\x81}(X\5\0\0\0innerq\1c__torch__\nInner\nq\2)\x81}(ubq\3ubq\4"s);
}

TEST_F(ValuePicklerTest, RefusesWhatFilesCannotHold) {
  const auto failure = [&](const IValue& value) {
    try {
      write(value);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(failure(IValue::uninitialized()).find("never given a value"), std::string::npos);
  EXPECT_NE(failure(IValue::native(Object{"Generator", nullptr})).find("nothing says what its state is"),
            std::string::npos);
  const IValue list = IValue::list(TypeKind::kAny);
  list.items().push_back(list);
  EXPECT_NE(failure(list).find("contains itself"), std::string::npos);
  list.items().clear();
  IValue deep;
  for (int i = 0; i < 1000; ++i) deep = IValue::tuple({deep});
  EXPECT_NE(failure(deep).find("nested more than"), std::string::npos);
}

}  // namespace
}  // namespace flambeau::script
