#include "flambeau/tensor/dtype_words.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

TEST(DTypeWords, PeopleWriteItForShort) {
  EXPECT_EQ(parse_dtype("bf16"), DType::kBFloat16);
  EXPECT_EQ(parse_dtype("FP16"), DType::kFloat16);
  EXPECT_EQ(parse_dtype("f32"), DType::kFloat32);
  EXPECT_EQ(parse_dtype("half"), DType::kFloat16);
  EXPECT_EQ(parse_dtype("torch.float"), DType::kFloat32);
  EXPECT_EQ(parse_dtype("f33"), std::nullopt);
  EXPECT_EQ(dtype_from_name("bf16"), std::nullopt);  // no file says so
}

}  // namespace

TEST(DTypeWords, AreThoseOfPyTorchsMessages) {
  EXPECT_EQ(dtype_word(DType::kInt64), "Long");
  EXPECT_EQ(dtype_word(DType::kComplex64), "ComplexFloat");
}

}  // namespace flambeau
