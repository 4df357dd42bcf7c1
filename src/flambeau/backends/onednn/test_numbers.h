// What tests compute with.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace flambeau::backends::onednn {

// Small whole numbers: sums of their products are exact.
inline std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> result(static_cast<size_t>(count));
  for (float& value : result) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return result;
}

}  // namespace flambeau::backends::onednn
