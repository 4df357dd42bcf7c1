// Views: geometry as PyTorch has it, and its words where there is none.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::ops {
namespace {

TEST(Views, KeepTheOrderOfElementsUnderOtherSizes) {
  Fixture f;
  const Tensor turned = f.run("aten::transpose.int", ramp({2, 3, 4}), 0, 1);
  const Tensor split = f.run("aten::view", turned, Dims{3, 2, 2, -1});
  EXPECT_EQ(split.sizes(), (Dims{3, 2, 2, 2}));
  EXPECT_EQ(split.strides(), (Dims{4, 12, 2, 1}));
  EXPECT_EQ(
      f.error("aten::view", turned, Dims{6, 4}),
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
      "two contiguous subspaces). Use .reshape(...) instead.");
  EXPECT_EQ(f.error("aten::view", turned, Dims{5, -1}), "shape '[5, -1]' is invalid for input of size 24");
  const Tensor copied = f.run("aten::reshape", turned, Dims{6, 4});
  EXPECT_NE(copied.storage(), turned.storage());
  EXPECT_EQ(values_of(copied)[4], 12);
  const Tensor flat = f.run("aten::flatten.using_ints", ramp({2, 3, 4}), 1);
  EXPECT_EQ(flat.sizes(), (Dims{2, 12}));
}

TEST(Views, SeeEmptyAndScalarTensors) {
  Fixture f;
  const Tensor scalar = ramp({});
  EXPECT_EQ(f.run("aten::view", scalar, Dims{1, 1}).strides(), (Dims{1, 1}));
  EXPECT_EQ(f.run("aten::unsqueeze", scalar, -1).sizes(), (Dims{1}));
  EXPECT_EQ(f.run("aten::squeeze.dim", scalar, 0).dim(), 0U);
  EXPECT_EQ(f.run("aten::view", ramp({0, 3}), Dims{3, 0}).strides(), (Dims{1, 1}));
  EXPECT_EQ(f.error("aten::view", ramp({0, 3}), Dims{-1, 0}),
            "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size "
            "-1 can be "
            "any value and is ambiguous");
}

TEST(Views, TakePartsOfTensors) {
  Fixture f;
  const Tensor x = ramp({3, 4});
  EXPECT_EQ(values_of(f.run("aten::select.int", x, 1, -1)), (std::vector<float>{3, 7, 11}));
  EXPECT_EQ(values_of(f.run("aten::slice.Tensor", x, 1, 1, INT64_MAX, 2)),
            (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(f.run("aten::slice.Tensor", x, 0, 5, 2, INT64_MAX).sizes(), (Dims{0, 4}));
  EXPECT_EQ(values_of(f.run("aten::diagonal", x, -1)), (std::vector<float>{4, 9}));
  EXPECT_EQ(f.run("aten::unfold", x, 1, 2, 2).strides(), (Dims{4, 2, 1}));
  EXPECT_EQ(f.run("aten::expand", x, Dims{2, -1, 4}).strides(), (Dims{0, 4, 1}));
  EXPECT_EQ(
      f.error("aten::expand", x, Dims{2, 4}),
      "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 0.  "
      "Target sizes: [2, 4].  Tensor sizes: [3, 4]");
  EXPECT_EQ(f.error("aten::expand", ramp({1, 1}), Dims{INT64_MAX, 4}),
            "a size or an index does not fit in 64 bits");
  EXPECT_EQ(f.error("aten::select.int", x, 0, 3),
            "select(): index 3 out of range for tensor of size [3, 4] at dimension 0");
}

TEST(Views, StayWithinTheirMemory) {
  Fixture f;
  const Tensor x = ramp({3, 4});
  EXPECT_EQ(values_of(f.run("aten::as_strided", x, Dims{2, 2}, Dims{1, 2}, 1)),
            (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(f.error("aten::as_strided", x, Dims{5, 3}, Dims{3, 1}, 0),
            "setStorage: sizes [5, 3], strides [3, 1], storage offset 0, and itemsize 4 requiring a storage "
            "size of "
            "60 are out of bounds for storage of size 48");
  EXPECT_NE(f.error("aten::as_strided", x, Dims{2}, Dims{-1}, 1), "no error");
  EXPECT_NE(f.error("aten::_reshape_alias", x, Dims{20}, Dims{1}), "no error");
}

TEST(Views, SplitIntoLists) {
  Fixture f;
  const Tensor x = ramp({5, 2});
  const auto sizes = [](const TensorList& list) {
    std::vector<int64_t> numbers;
    for (const Tensor& tensor : list) numbers.push_back(tensor.sizes()[0]);
    return numbers;
  };
  EXPECT_EQ(sizes(f.run<TensorList>("aten::split.Tensor", x, 2)), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(sizes(f.run<TensorList>("aten::chunk", x, 4)), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(sizes(f.run<TensorList>("aten::tensor_split.sections", x, 3)), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(sizes(f.run<TensorList>("aten::split_with_sizes", x, Dims{1, 4})), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(f.run<TensorList>("aten::unbind.int", x, 1).size(), 2U);
  EXPECT_EQ(f.error("aten::split_with_sizes", x, Dims{1, 3}),
            "split_with_sizes expects split_sizes to sum exactly to 5 (input tensor's size at dimension 0), "
            "but got "
            "split_sizes=[1, 3]");
}

TEST(Views, HaveCopyingTwins) {
  Fixture f;
  const Tensor x = ramp({3, 4});
  const Tensor copy = f.run("aten::permute_copy", x, Dims{1, 0});
  EXPECT_EQ(copy.strides(), (Dims{3, 1}));
  EXPECT_NE(copy.storage(), x.storage());
  EXPECT_EQ(values_of(copy), values_of(f.run("aten::t", x)));
}

}  // namespace
}  // namespace flambeau::ops
