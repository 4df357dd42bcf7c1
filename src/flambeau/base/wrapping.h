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
  } else if constexpr (requires { a.imag(); }) {
    // As it is written, without C's rules for infinities, as PyTorch has it.
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

}  // namespace flambeau
