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

}  // namespace
}  // namespace flambeau::kernels::FLAMBEAU_ISA
