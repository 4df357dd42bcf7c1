#include "flambeau/tensor/elements/convert_rows.h"

#include "flambeau/tensor/elements/scalar_types.h"
#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::bytes_of;
using testing::values_of;

// float32 patterns that visit every exponent and many fractions.
std::vector<uint32_t> patterns() {
  std::vector<uint32_t> bits;
  uint32_t value = 0;
  for (int i = 0; i < 200003; ++i) bits.push_back(value += 0x9e3779b1);
  return bits;
}

// The loop of every level that this processor has gives the same bits.
template <typename To>
std::vector<To> run(DType from_type, DType to_type, const std::vector<uint8_t>& from, size_t count) {
  std::vector<uint8_t> source(from.size() + 1);  // misaligned on both sides
  std::copy(from.begin(), from.end(), source.begin() + 1);
  std::vector<uint8_t> target(count * sizeof(To) + 1);
  find_convert_row(from_type, to_type)(source.data() + 1, target.data() + 1, count);
  std::vector<uint8_t> base(target.size());
  isa_base::find_convert_row(static_cast<int>(from_type), static_cast<int>(to_type))(source.data() + 1,
                                                                                     base.data() + 1, count);
  EXPECT_EQ(target, base);
  return values_of<To>(ByteSpan(target).subspan(1));
}

TEST(ConvertRows, HalfIsTheScalarRule) {
  const std::vector<uint32_t> bits = patterns();
  const auto halves = run<uint16_t>(DType::kFloat32, DType::kFloat16, bytes_of(bits), bits.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(halves[i], Float16::from_float(std::bit_cast<float>(bits[i])).bits) << std::hex << bits[i];
  }
  std::vector<uint16_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
  const auto floats = run<uint32_t>(DType::kFloat16, DType::kFloat32, bytes_of(codes), codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    ASSERT_EQ(floats[i], std::bit_cast<uint32_t>(Float16{codes[i]}.to_float())) << i;
  }
}

TEST(ConvertRows, BFloat16IsTheScalarRule) {
  const std::vector<uint32_t> bits = patterns();
  const auto shorts = run<uint16_t>(DType::kFloat32, DType::kBFloat16, bytes_of(bits), bits.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(shorts[i], BFloat16::from_float(std::bit_cast<float>(bits[i])).bits) << std::hex << bits[i];
  }
  const auto floats = run<uint32_t>(DType::kBFloat16, DType::kFloat32, bytes_of(shorts), shorts.size());
  for (size_t i = 0; i < shorts.size(); ++i) ASSERT_EQ(floats[i], uint32_t{shorts[i]} << 16);
}

TEST(ConvertRows, ShortRowsAreComplete) {
  for (size_t count = 0; count < 40; ++count) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 0.25F;
    const auto halves = run<uint16_t>(DType::kFloat32, DType::kFloat16, bytes_of(values), count);
    EXPECT_EQ(run<float>(DType::kFloat16, DType::kFloat32, bytes_of(halves), count), values);
    std::vector<double> doubles(values.begin(), values.end());
    EXPECT_EQ(run<float>(DType::kFloat64, DType::kFloat32, bytes_of(doubles), count), values);
  }
}

// As PyTorch has it: see the comment at nan_becomes_zero().
TEST(ConvertRows, NanOfSmallFloatsAsAnInteger) {
  const uint8_t nan = 0x80;
  int32_t number = 7;
  convert_row(DType::kFloat8E4M3FNUZ, &nan, 1, DType::kInt32, reinterpret_cast<uint8_t*>(&number), 4, 1);
  EXPECT_EQ(number, 0);
  const float plain = std::numeric_limits<float>::quiet_NaN();
  convert_row(DType::kFloat32, reinterpret_cast<const uint8_t*>(&plain), 4, DType::kInt32,
              reinterpret_cast<uint8_t*>(&number), 4, 1);
  EXPECT_EQ(number, std::numeric_limits<int32_t>::min());
}

}  // namespace
}  // namespace flambeau
