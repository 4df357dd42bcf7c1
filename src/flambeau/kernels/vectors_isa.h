// The widest vectors of an instruction-set level, for x_isa.cpp files. Everything has internal linkage: the
// same names mean other types at other levels.
#pragma once

#include <cstdint>
#include <utility>

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<uint64_t> {
  typedef uint64_t Type __attribute__((vector_size(kVectorBytes)));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;
template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <typename T>
[[gnu::always_inline]] inline Vector<T> load(const T* from) {
  Vector<T> vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
template <typename T>
[[gnu::always_inline]] inline void store(T* to, const Vector<T>& vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

template <typename T, int... kIndex>
[[gnu::always_inline]] inline Vector<T> take_even(const Vector<T>& low, const Vector<T>& high,
                                                  std::integer_sequence<int, kIndex...>) {
  constexpr int kHalf = sizeof...(kIndex) / 2;
  return __builtin_shufflevector(low, high, (2 * kIndex + (kIndex < kHalf ? 0 : 1))...);
}
// Every second element, beginning with the first; reads nothing behind the last of them.
template <typename T>
[[gnu::always_inline]] inline Vector<T> load_even(const T* from) {
  return take_even<T>(load(from), load(from + kLanes<T> - 1), std::make_integer_sequence<int, kLanes<T>>());
}

template <typename T, int... kIndex>
[[gnu::always_inline]] inline Vector<T> interleave_low(const Vector<T>& a, const Vector<T>& b,
                                                       std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(a, b, (kIndex / 2 + kIndex % 2 * static_cast<int>(sizeof...(kIndex)))...);
}
template <typename T, int... kIndex>
[[gnu::always_inline]] inline Vector<T> interleave_high(const Vector<T>& a, const Vector<T>& b,
                                                        std::integer_sequence<int, kIndex...>) {
  constexpr int kCount = sizeof...(kIndex);
  return __builtin_shufflevector(a, b, (kCount / 2 + kIndex / 2 + kIndex % 2 * kCount)...);
}

// Transposes a square of kLanes x kLanes in registers: shuffling the rows of one half into those of the
// other, like cards, as often as it takes to halve the rows down to one.
template <typename T>
[[gnu::always_inline]] inline void transpose(Vector<T> (&rows)[kLanes<T>]) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes<T>>();
#pragma GCC unroll 4
  for (int half = 1; half < kLanes<T>; half *= 2) {
    Vector<T> shuffled[kLanes<T>];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<T> / 2; ++i) {
      shuffled[2 * i] = interleave_low<T>(rows[i], rows[i + kLanes<T> / 2], kAll);
      shuffled[2 * i + 1] = interleave_high<T>(rows[i], rows[i + kLanes<T> / 2], kAll);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<T>; ++i) rows[i] = shuffled[i];
  }
}

}  // namespace
}  // namespace flambeau::kernels::FLAMBEAU_ISA
