#include "flambeau/tensor/elements/hot_loops.h"

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

template <typename To>
std::vector<To> run(void (*loop)(const uint8_t*, uint8_t*, size_t), const std::vector<uint8_t>& from,
                    size_t count) {
  std::vector<uint8_t> source(from.size() + 1);  // misaligned on both sides
  std::copy(from.begin(), from.end(), source.begin() + 1);
  std::vector<uint8_t> target(count * sizeof(To) + 1);
  loop(source.data() + 1, target.data() + 1, count);
  return values_of<To>(ByteSpan(target).subspan(1));
}

TEST(HotLoops, HalfIsTheScalarRule) {
  const std::vector<uint32_t> bits = patterns();
  const auto halves = run<uint16_t>(convert_float_to_half, bytes_of(bits), bits.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(halves[i], Float16::from_float(std::bit_cast<float>(bits[i])).bits) << std::hex << bits[i];
  }
  std::vector<uint16_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
  const auto floats = run<uint32_t>(convert_half_to_float, bytes_of(codes), codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    ASSERT_EQ(floats[i], std::bit_cast<uint32_t>(Float16{codes[i]}.to_float())) << i;
  }
}

TEST(HotLoops, BFloat16IsTheScalarRule) {
  const std::vector<uint32_t> bits = patterns();
  const auto shorts = run<uint16_t>(convert_float_to_bfloat16, bytes_of(bits), bits.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(shorts[i], BFloat16::from_float(std::bit_cast<float>(bits[i])).bits) << std::hex << bits[i];
  }
  const auto floats = run<uint32_t>(convert_bfloat16_to_float, bytes_of(shorts), shorts.size());
  for (size_t i = 0; i < shorts.size(); ++i) ASSERT_EQ(floats[i], uint32_t{shorts[i]} << 16);
}

TEST(HotLoops, ShortRowsAreComplete) {
  for (size_t count = 0; count < 40; ++count) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 0.25F;
    const auto halves = run<uint16_t>(convert_float_to_half, bytes_of(values), count);
    EXPECT_EQ(run<float>(convert_half_to_float, bytes_of(halves), count), values);
    std::vector<double> doubles(values.begin(), values.end());
    EXPECT_EQ(run<float>(convert_double_to_float, bytes_of(doubles), count), values);
  }
}

}  // namespace
}  // namespace flambeau
