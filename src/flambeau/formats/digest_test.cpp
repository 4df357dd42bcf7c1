#include "flambeau/formats/digest.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

TEST(Digest, OfATensorIsThatOfItsElementsInOrder) {
  std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6};
  const Tensor rows = Tensor::contiguous(DType::kUInt8, Dims{2, 3}, Storage::own(bytes));
  EXPECT_EQ(digest_of(rows), Sha256::of(ByteSpan(bytes)));
  const Tensor columns = Tensor::strided(DType::kUInt8, {{3, 2}, {1, 3}, 0}, rows.storage());
  const std::vector<uint8_t> transposed = {1, 4, 2, 5, 3, 6};
  EXPECT_EQ(digest_of(columns), Sha256::of(ByteSpan(transposed)));
  EXPECT_EQ(digest_of(Tensor::zeros(DType::kFloat32, Dims{0})), Sha256::of(std::string_view()));
}

TEST(Digest, OfATensorWithoutElementsIsNothing) {
  const Tensor meta = Tensor::strided(DType::kFloat32, {{2}, {1}, 0}, Storage::meta(8), {DeviceType::kMeta});
  EXPECT_EQ(digest_of(meta), std::nullopt);
}

TEST(Digest, OfAFile) { EXPECT_EQ(digest_of(*Mapping::from_text("abc")), Sha256::of("abc")); }

}  // namespace
}  // namespace flambeau
