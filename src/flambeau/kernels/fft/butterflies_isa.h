// The passes of a transform in lanes: butterflies of 2, 3, 4, 5, 7, 8 and any odd number.
#pragma once

#include "flambeau/kernels/fft/loops.h"
#include "flambeau/kernels/vectors_isa.h"

namespace flambeau::kernels::fft::FLAMBEAU_ISA {
namespace {

using namespace flambeau::kernels::FLAMBEAU_ISA;  // NOLINT: the vectors of this level

// A number of each lane.
template <typename T>
struct Numbers {
  Vector<T> real;
  Vector<T> imaginary;

  [[gnu::always_inline]] static Numbers from(const T* place) {
    return {load(place), load(place + kLanes<T>)};
  }
  [[gnu::always_inline]] void to(T* place) const {
    store(place, real);
    store(place + kLanes<T>, imaginary);
  }
  [[gnu::always_inline]] Numbers operator+(const Numbers& other) const {
    return {real + other.real, imaginary + other.imaginary};
  }
  [[gnu::always_inline]] Numbers operator-(const Numbers& other) const {
    return {real - other.real, imaginary - other.imaginary};
  }
  [[gnu::always_inline]] Numbers operator*(T factor) const { return {real * factor, imaginary * factor}; }
  [[gnu::always_inline]] Numbers turned(T cosine, T sine) const {
    return {real * cosine - imaginary * sine, real * sine + imaginary * cosine};
  }
  // A quarter clockwise: times -i.
  [[gnu::always_inline]] Numbers quarter() const { return {imaginary, -real}; }
};

template <typename T>
[[gnu::always_inline]] inline void two(Numbers<T>& a, Numbers<T>& b) {
  const Numbers<T> sum = a + b;
  b = a - b;
  a = sum;
}

template <typename T>
[[gnu::always_inline]] inline void four(Numbers<T>& a, Numbers<T>& b, Numbers<T>& c, Numbers<T>& d) {
  two(a, c);
  two(b, d);
  two(a, b);  // a: 0, b: 2
  const Numbers<T> turned = d.quarter();
  d = c - turned;  // 3
  const Numbers<T> second = b;
  b = c + turned;  // 1
  c = second;      // 2
}

template <typename T, size_t kRadix>
struct Butterfly {
  // Of an odd number, by the sums and differences of what stands opposite each other.
  [[gnu::always_inline]] static void run(Numbers<T> (&a)[kRadix], const T* roots, size_t radix) {
    run_odd(a, roots, radix);
  }
  [[gnu::always_inline]] static void run_odd(Numbers<T>* a, const T* roots, size_t radix) {
    const size_t half = (radix - 1) / 2;
    Numbers<T> sums[(kRadix - 1) / 2];
    Numbers<T> differences[(kRadix - 1) / 2];
    Numbers<T> total = a[0];
    for (size_t k = 0; k < half; ++k) {
      sums[k] = a[k + 1] + a[radix - 1 - k];
      differences[k] = a[k + 1] - a[radix - 1 - k];
      total = total + sums[k];
    }
    for (size_t j = 1; j <= half; ++j) {
      Numbers<T> even = a[0];
      Numbers<T> odd = {};
      size_t e = 0;
      for (size_t k = 0; k < half; ++k) {
        e += j;
        if (e >= radix) e -= radix;
        even = even + sums[k] * roots[2 * e];
        odd = odd + differences[k] * -roots[2 * e + 1];
      }
      a[j] = even + odd.quarter();
      a[radix - j] = even - odd.quarter();
    }
    a[0] = total;
  }
};
template <typename T>
struct Butterfly<T, 2> {
  [[gnu::always_inline]] static void run(Numbers<T> (&a)[2], const T*, size_t) { two(a[0], a[1]); }
};
template <typename T>
struct Butterfly<T, 3> {
  [[gnu::always_inline]] static void run(Numbers<T> (&a)[3], const T*, size_t) {
    const Numbers<T> sum = a[1] + a[2];
    const Numbers<T> odd = ((a[1] - a[2]) * T(0.86602540378443864676)).quarter();
    const Numbers<T> even = a[0] - sum * T(0.5);
    a[0] = a[0] + sum;
    a[1] = even + odd;
    a[2] = even - odd;
  }
};
template <typename T>
struct Butterfly<T, 4> {
  [[gnu::always_inline]] static void run(Numbers<T> (&a)[4], const T*, size_t) {
    four(a[0], a[1], a[2], a[3]);
  }
};
template <typename T>
struct Butterfly<T, 8> {
  [[gnu::always_inline]] static void run(Numbers<T> (&a)[8], const T*, size_t) {
    constexpr T kHalfRoot = T(0.70710678118654752440);
    four(a[0], a[2], a[4], a[6]);
    four(a[1], a[3], a[5], a[7]);
    a[3] = (a[3] + a[3].quarter()) * kHalfRoot;
    a[5] = a[5].quarter();
    a[7] = (a[7].quarter() - a[7]) * kHalfRoot;
    two(a[0], a[1]);
    two(a[2], a[3]);
    two(a[4], a[5]);
    two(a[6], a[7]);
    const Numbers<T> b[8] = {a[0], a[2], a[4], a[6], a[1], a[3], a[5], a[7]};
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) a[i] = b[i];
  }
};

template <typename T>
using Pass = typename LanePlan<T>::Pass;

// kRadix is the most where the radix is none of those that have a loop of their own.
template <typename T, size_t kRadix, bool kIsLast>
void run_pass(const Pass<T>& pass, const T* numbers, const T* from, T* to) {
  constexpr size_t kStep = 2 * kLanes<T>;
  constexpr bool kIsAny = kRadix == kMostRadix;
  const size_t radix = kIsAny ? pass.radix : kRadix;
  const T* const roots = numbers + pass.radicals;
  const T* turns = numbers + pass.turns;
  const size_t leap = pass.stride * pass.count * kStep;
  for (size_t p = 0; p < pass.count; ++p, turns += 2 * (radix - 1)) {
    const T* in = from + p * pass.stride * kStep;
    T* out = to + p * radix * pass.stride * kStep;
    for (size_t q = 0; q < pass.stride; ++q, in += kStep, out += kStep) {
      Numbers<T> a[kRadix];
      a[0] = Numbers<T>::from(in);
#pragma GCC unroll 8
      for (size_t k = 1; k < radix; ++k) a[k] = Numbers<T>::from(in + k * leap);
      Butterfly<T, kRadix>::run(a, roots, radix);
      a[0].to(out);
#pragma GCC unroll 8
      for (size_t j = 1; j < radix; ++j) {
        const Numbers<T> b = kIsLast ? a[j] : a[j].turned(turns[2 * j - 2], turns[2 * j - 1]);
        b.to(out + j * pass.stride * kStep);
      }
    }
  }
}

template <typename T, size_t kRadix>
void run_radix(const Pass<T>& pass, const T* numbers, const T* from, T* to) {
  if (pass.count == 1) {
    run_pass<T, kRadix, true>(pass, numbers, from, to);
  } else {
    run_pass<T, kRadix, false>(pass, numbers, from, to);
  }
}

// All passes; the result is in one of the two, or where it was if there are none.
template <typename T>
const T* run_passes(const LanePlan<T>& plan, const T* from, T* first, T* second) {
  for (const Pass<T>& pass : plan.passes) {
    const T* const numbers = plan.numbers.data();
    switch (pass.radix) {
      case 2:
        run_radix<T, 2>(pass, numbers, from, first);
        break;
      case 3:
        run_radix<T, 3>(pass, numbers, from, first);
        break;
      case 4:
        run_radix<T, 4>(pass, numbers, from, first);
        break;
      case 5:
        run_radix<T, 5>(pass, numbers, from, first);
        break;
      case 7:
        run_radix<T, 7>(pass, numbers, from, first);
        break;
      case 8:
        run_radix<T, 8>(pass, numbers, from, first);
        break;
      default:
        run_radix<T, kMostRadix>(pass, numbers, from, first);
    }
    from = first;
    T* const other = second;
    second = first;
    first = other;
  }
  return from;
}

}  // namespace
}  // namespace flambeau::kernels::fft::FLAMBEAU_ISA
