// Integer arithmetic that cannot wrap silently. `checked_*` throws, `try_*` returns nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace flambeau {

[[noreturn]] void throw_overflow(std::string_view what, size_t bits);

template <std::integral T>
std::optional<T> try_add(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
std::optional<T> try_mul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// `what` names the quantity in the error: "the size of tensor 'x'".
template <std::integral T>
T checked_add(T a, T b, std::string_view what) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow(what, sizeof(T) * 8);
  return result;
}

template <std::integral T>
T checked_mul(T a, T b, std::string_view what) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) throw_overflow(what, sizeof(T) * 8);
  return result;
}

// Conversion that must keep the value.
template <std::integral To, std::integral From>
To checked_cast(From value, std::string_view what) {
  if (!std::in_range<To>(value)) throw_overflow(what, sizeof(To) * 8);
  return static_cast<To>(value);
}

}  // namespace flambeau
