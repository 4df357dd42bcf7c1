// Sums and products of elements: integers wrap around, as PyTorch's do, where plain ones would be undefined.
#pragma once

#include <concepts>
#include <cstdint>

namespace flambeau {

template <typename T>
constexpr T wrapping_add(T a, T b) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename T>
constexpr T wrapping_multiply(T a, T b) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

}  // namespace flambeau
