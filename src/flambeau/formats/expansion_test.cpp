#include "flambeau/formats/expansion.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

Tensor repeated(int64_t stored, int64_t count) {
  return Tensor::strided(DType::kFloat32, {{count, stored}, {0, 1}, 0},
                         Storage::allocate(static_cast<size_t>(stored) * 4));
}

bool fits(std::vector<CheckpointTensor> tensors) {
  ExpansionBudget budget(tensors);
  try {
    for (const CheckpointTensor& entry : tensors) budget.spend(entry.tensor);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kLimit);
    return false;
  }
}

TEST(ExpansionBudget, SmallFilesMayRepeatUpTo64Megabytes) {
  EXPECT_TRUE(fits({{"a", repeated(1, 16 << 20)}}));
  EXPECT_FALSE(fits({{"a", repeated(1, (16 << 20) + 1)}}));
  EXPECT_TRUE(fits({{"a", repeated(1, 8 << 20)}, {"b", repeated(1, 8 << 20)}}));
  EXPECT_FALSE(fits({{"a", repeated(1, 8 << 20)}, {"b", repeated(1, (8 << 20) + 1)}}));
}

TEST(ExpansionBudget, LargeOnesUpTo16Times) {
  constexpr int64_t kStored = 8 << 20;
  EXPECT_TRUE(fits({{"a", repeated(kStored, 16)}}));
  EXPECT_FALSE(fits({{"a", repeated(kStored, 17)}}));
  // A storage counts once, however many tensors share it.
  const Tensor shared = repeated(kStored, 4);
  EXPECT_TRUE(fits({{"a", shared}, {"b", shared}, {"c", shared}, {"d", shared}}));
  EXPECT_FALSE(fits({{"a", shared}, {"b", shared}, {"c", shared}, {"d", shared}, {"e", shared}}));
}

TEST(ExpansionBudget, CountsTheNumbersThatQuantizedElementsStandFor) {
  const auto quantized = [](int64_t count) {
    return Tensor::quantized(Tensor::strided(DType::kQInt8, {{count}, {0}, 0}, Storage::allocate(1)), {});
  };
  EXPECT_TRUE(fits({{"a", quantized(8 << 20)}}));
  EXPECT_FALSE(fits({{"a", quantized((8 << 20) + 1)}}));
}

TEST(ExpansionBudget, MetaTensorsHaveNothingToLayOut) {
  EXPECT_TRUE(fits({{"a", Tensor::strided(DType::kFloat32, {{1LL << 50}, {1}, 0}, Storage::meta(1ULL << 52),
                                          Device{DeviceType::kMeta, -1})}}));
}

TEST(ExpansionBudget, SaysWhatIsTooMuch) {
  const std::vector<CheckpointTensor> tensors = {{"a", repeated(1, 17 << 20)}};
  ExpansionBudget budget(tensors);
  try {
    budget.spend(tensors[0].tensor);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "float32[17825792, 1] takes 71303168 bytes when laid out, and the tensors before it 0; the "
        "file stores 4 in all, which allows 67108864 (leave it out, or save it in PyTorch as a tensor "
        "of its own (clone))");
  }
}

}  // namespace
}  // namespace flambeau
