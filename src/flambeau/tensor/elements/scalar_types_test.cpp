#include "flambeau/tensor/elements/scalar_types.h"

#include <cmath>
#include <set>

#include "flambeau/tensor/elements/element_types.h"
#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::bytes_of;
using testing::fnv64;
using testing::golden_lines;
using testing::split;

// The list that generate_tensor.py builds.
std::vector<uint32_t> fractions() {
  std::set<uint32_t> found = {0, 1, 2, 3, 0x7fffff, 0x7ffffe};
  for (int k = 0; k < 23; ++k) {
    for (const uint32_t base : {1U << k, 3U << k, 5U << k, 0x7fffffU ^ (1U << k), 0x7fffffU << k}) {
      for (const uint32_t near : {~0U, 0U, 1U}) found.insert((base + near) & 0x7fffff);
    }
  }
  return {found.begin(), found.end()};
}

// Calls body with an element of a small floating-point type.
template <typename Body>
void with_small_float(const std::string& name, Body&& body) {
  with_element_type(*dtype_from_name(name), 0, [&]<typename T>(T element) {
    if constexpr (kIsSmallFloat<T>) body(element);
    return 0;
  });
}

std::string low_hex(uint64_t value, int digits) {
  std::string text(static_cast<size_t>(digits), '0');
  for (size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

TEST(ScalarTypes, AllFloat8CodesWiden) {
  int checked = 0;
  for (const std::string& line : golden_lines("small_floats.txt")) {
    const auto fields = split(line, ' ');
    if (fields[0] != "float") continue;
    with_small_float(fields[1], [&]<typename T>(T) {
      for (uint32_t code = 0; code < 256; ++code) {
        T element{};
        element.bits = static_cast<decltype(element.bits)>(code);
        const auto bits = std::bit_cast<uint32_t>(element.to_float());
        EXPECT_EQ(low_hex(bits, 8), fields[2].substr(code * 8, 8)) << fields[1] << " code " << code;
        ++checked;
      }
    });
  }
  EXPECT_EQ(checked, 5 * 256);
}

TEST(ScalarTypes, All16BitCodesWiden) {
  int checked = 0;
  for (const std::string& line : golden_lines("small_floats.txt")) {
    const auto fields = split(line, ' ');
    if (fields[0] != "widen") continue;
    with_small_float(fields[1], [&]<typename T>(T) {
      for (uint32_t block = 0; block < 256; ++block) {
        std::vector<float> values;
        for (uint32_t i = 0; i < 256; ++i) {
          T element{};
          element.bits = static_cast<decltype(element.bits)>(block * 256 + i);
          values.push_back(element.to_float());
        }
        EXPECT_EQ(low_hex(fnv64(bytes_of(values)), 16), fields[2].substr(block * 16, 16))
            << fields[1] << " codes from " << block * 256;
        ++checked;
      }
    });
  }
  EXPECT_EQ(checked, 512);
}

TEST(ScalarTypes, FloatsRoundAroundEveryBoundary) {
  const std::vector<uint32_t> sample = fractions();
  int checked = 0;
  for (const std::string& line : golden_lines("small_floats.txt")) {
    const auto fields = split(line, ' ');
    if (fields[0] != "round") continue;
    with_small_float(fields[1], [&]<typename T>(T) {
      for (uint32_t top = 0; top < 512; ++top) {
        std::vector<T> rounded;
        for (const uint32_t fraction : sample) {
          rounded.push_back(T::from_float(std::bit_cast<float>(top << 23 | fraction)));
        }
        EXPECT_EQ(low_hex(fnv64(bytes_of(rounded)), 8), fields[2].substr(top * 8, 8))
            << fields[1] << " sign and exponent " << top;
        ++checked;
      }
    });
  }
  EXPECT_EQ(checked, 7 * 512);
}

TEST(ScalarTypes, DoublesRoundThroughFloat) {
  const std::vector<uint32_t> sample = fractions();
  int checked = 0;
  for (const std::string& line : golden_lines("small_floats.txt")) {
    const auto fields = split(line, ' ');
    if (fields[0] != "round64") continue;
    with_small_float(fields[1], [&]<typename T>(T) {
      size_t at = 0;
      for (uint32_t top = 0; top < 512; ++top) {
        const uint64_t exponent = top & 0xff;
        if (exponent == 0 || exponent == 255) continue;
        std::vector<T> rounded;
        for (const uint64_t step : {~uint64_t{0}, uint64_t{1}, uint64_t{1} << 28}) {
          for (size_t i = 0; i < sample.size(); i += 7) {
            const uint64_t bits =
                (uint64_t{top >> 8} << 63 | (exponent + 896) << 52 | uint64_t{sample[i]} << 29);
            rounded.push_back(T::from_float(static_cast<float>(std::bit_cast<double>(bits + step))));
          }
        }
        EXPECT_EQ(low_hex(fnv64(bytes_of(rounded)), 8), fields[2].substr(at * 8, 8))
            << fields[1] << " sign and exponent " << top;
        ++at;
        ++checked;
      }
    });
  }
  EXPECT_EQ(checked, 7 * 508);
}

TEST(ScalarTypes, LimitsOfEachFormat) {
  EXPECT_EQ(Float16::from_float(65519.99F).bits, 0x7bff);
  EXPECT_EQ(Float16::from_float(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Float16::from_float(-1e30F).bits, 0xfc00);
  EXPECT_EQ(BFloat16::from_float(3.4e38F).bits, 0x7f80);
  EXPECT_EQ(Float8E4M3FN::from_float(1e9F).bits, 0x7e);
  EXPECT_EQ(Float8E4M3FN::from_float(-INFINITY).bits, 0xfe);
  EXPECT_EQ(Float8E5M2::from_float(61440.0F).bits, 0x7c);
  EXPECT_EQ(Float8E4M3FNUZ::from_float(-1e9F).bits, 0x80);
  EXPECT_EQ(Float8E4M3FNUZ::from_float(-0.0F).bits, 0);
  EXPECT_EQ(Float8E5M2FNUZ::from_float(-1e-30F).bits, 0);
  EXPECT_EQ(Float8E8M0FNU::from_float(-3.0F).bits, 129);
  EXPECT_EQ(Float8E8M0FNU::from_float(3.4e38F).bits, 0xff);
}

}  // namespace
}  // namespace flambeau
