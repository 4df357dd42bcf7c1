#include "flambeau/ops/engines/overlap.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace flambeau::ops {
namespace {

// As a caller lends it: a storage of its own each time.
Tensor lent(std::vector<float>& memory, size_t first, int64_t count) {
  const auto owner = std::make_shared<int>();
  auto* const begin = reinterpret_cast<uint8_t*>(memory.data() + first);
  return Tensor::contiguous(DType::kFloat32, std::vector<int64_t>{count},
                            Storage::borrow(begin, static_cast<size_t>(count) * sizeof(float), owner));
}

TEST(Overlap, TellsTensorsOfOneStorageApart) {
  const Tensor whole = Tensor::zeros(DType::kFloat32, std::vector<int64_t>{10});
  const auto part = [&](int64_t first, int64_t count) {
    return whole.with_geometry({.sizes = {count}, .strides = {1}, .offset = first});
  };
  EXPECT_TRUE(overlaps(whole, whole));
  EXPECT_FALSE(overlaps_partly(whole, whole));
  EXPECT_TRUE(overlaps_partly(part(0, 6), part(5, 5)));
  EXPECT_FALSE(overlaps(part(0, 5), part(5, 5)));
  EXPECT_FALSE(overlaps(part(3, 0), part(0, 10)));
}

TEST(Overlap, SeesMemoryThatIsLentTwice) {
  std::vector<float> memory(10);
  EXPECT_TRUE(overlaps_partly(lent(memory, 0, 6), lent(memory, 5, 5)));
  EXPECT_FALSE(overlaps(lent(memory, 0, 5), lent(memory, 5, 5)));
  EXPECT_TRUE(overlaps(lent(memory, 2, 4), lent(memory, 2, 4)));
  EXPECT_FALSE(overlaps_partly(lent(memory, 2, 4), lent(memory, 2, 4)));
  std::vector<float> other(10);
  EXPECT_FALSE(overlaps(lent(memory, 0, 10), lent(other, 0, 10)));
}

TEST(Overlap, LeavesMemoryThatNobodyReachesAlone) {
  const auto meta = [] {
    return Tensor::contiguous(DType::kFloat32, std::vector<int64_t>{4}, Storage::meta(16));
  };
  const Tensor a = meta();
  EXPECT_FALSE(overlaps(a, meta()));
  EXPECT_TRUE(overlaps(a, a));
}

}  // namespace
}  // namespace flambeau::ops
