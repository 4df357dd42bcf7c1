// Lines of memory into lanes and back: vectors where the lines or the lanes lie packed, numbers otherwise.
#pragma once

#include "flambeau/kernels/fft/butterflies_isa.h"

namespace flambeau::kernels::fft::FLAMBEAU_ISA {
namespace {

template <typename T, int... kIndex>
[[gnu::always_inline]] inline Numbers<T> parted(const Vector<T>& low, const Vector<T>& high,
                                                std::integer_sequence<int, kIndex...>) {
  return {__builtin_shufflevector(low, high, (2 * kIndex)...),
          __builtin_shufflevector(low, high, (2 * kIndex + 1)...)};
}
// Numbers that lie packed, real and imaginary parts in turn.
template <typename T>
[[gnu::always_inline]] inline Numbers<T> load_packed_numbers(const T* from, bool is_swapped) {
  const Numbers<T> numbers =
      parted<T>(load(from), load(from + kLanes<T>), std::make_integer_sequence<int, kLanes<T>>());
  return is_swapped ? Numbers<T>{numbers.imaginary, numbers.real} : numbers;
}
template <typename T>
[[gnu::always_inline]] inline void store_packed_numbers(T* to, const Numbers<T>& numbers, bool is_swapped) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes<T>>();
  const Vector<T>& first = is_swapped ? numbers.imaginary : numbers.real;
  const Vector<T>& second = is_swapped ? numbers.real : numbers.imaginary;
  store(to, interleave_low<T>(first, second, kAll));
  store(to + kLanes<T>, interleave_high<T>(first, second, kAll));
}

// Do the lines lie beside each other?
template <typename T, typename Element>
bool lies_across(const Lanes<Element>& lanes) {
  if (lanes.line.imaginary != 1 || lanes.line.is_real) return false;
  for (size_t lane = 0; lane < kLanes<T>; ++lane) {
    if (lanes.offsets[lane] != static_cast<int64_t>(2 * lane)) return false;
  }
  return true;
}

// And are they, as the parts of numbers are, of real numbers?
template <typename T, typename Element>
bool lies_across_real(const Lanes<Element>& lanes) {
  for (size_t lane = 0; lane < kLanes<T>; ++lane) {
    if (lanes.offsets[lane] != static_cast<int64_t>(lane)) return false;
  }
  return true;
}

template <typename T>
void load_lanes(const Lanes<const T>& from, size_t length, T* to) {
  constexpr size_t kStep = 2 * kLanes<T>;
  const Line<const T>& line = from.line;
  if (lies_across<T>(from)) {
    const T* place = line.data;
    for (size_t i = 0; i < length; ++i, place += line.step) {
      load_packed_numbers(place, line.is_swapped).to(to + i * kStep);
    }
    return;
  }
  if (lies_across_real<T>(from)) {
    const T* place = line.data;
    for (size_t i = 0; i < length; ++i, place += line.step) {
      const Vector<T> real = load(place);
      const Vector<T> imaginary = line.is_real ? Vector<T>{} : load(place + line.imaginary);
      (line.is_swapped ? Numbers<T>{imaginary, real} : Numbers<T>{real, imaginary}).to(to + i * kStep);
    }
    return;
  }
  size_t done = 0;
  if (line.step == 2 && line.imaginary == 1 && !line.is_real) {
    for (; done + kLanes<T> <= length; done += kLanes<T>) {
      Vector<T> real[kLanes<T>];
      Vector<T> imaginary[kLanes<T>];
#pragma GCC unroll 16
      for (int lane = 0; lane < kLanes<T>; ++lane) {
        const Numbers<T> numbers =
            load_packed_numbers(line.data + from.offsets[lane] + 2 * done, line.is_swapped);
        real[lane] = numbers.real;
        imaginary[lane] = numbers.imaginary;
      }
      transpose<T>(real);
      transpose<T>(imaginary);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<T>; ++i) {
        Numbers<T>{real[i], imaginary[i]}.to(to + (done + static_cast<size_t>(i)) * kStep);
      }
    }
  }
  const size_t real_at = line.is_swapped ? kLanes<T> : 0;
  const size_t imaginary_at = kLanes<T> - real_at;
  for (size_t lane = 0; lane < kLanes<T>; ++lane) {
    const T* place = line.data + from.offsets[lane] + static_cast<int64_t>(done) * line.step;
    T* target = to + done * kStep + lane;
    for (size_t i = done; i < length; ++i, place += line.step, target += kStep) {
      target[real_at] = place[0];
      target[imaginary_at] = line.is_real ? T(0) : place[line.imaginary];
    }
  }
}

template <typename T>
void store_lanes(const T* from, size_t length, T scale, const Lanes<T>& to) {
  constexpr size_t kStep = 2 * kLanes<T>;
  const Line<T>& line = to.line;
  const bool is_full = to.count == kLanes<T>;
  if (is_full && lies_across<T>(to)) {
    T* place = line.data;
    for (size_t i = 0; i < length; ++i, place += line.step) {
      store_packed_numbers(place, Numbers<T>::from(from + i * kStep) * scale, line.is_swapped);
    }
    return;
  }
  if (is_full && lies_across_real<T>(to)) {
    T* place = line.data;
    for (size_t i = 0; i < length; ++i, place += line.step) {
      const Numbers<T> numbers = Numbers<T>::from(from + i * kStep) * scale;
      store(place, line.is_swapped ? numbers.imaginary : numbers.real);
      if (!line.is_real) store(place + line.imaginary, line.is_swapped ? numbers.real : numbers.imaginary);
    }
    return;
  }
  size_t done = 0;
  if (is_full && line.step == 2 && line.imaginary == 1 && !line.is_real) {
    for (; done + kLanes<T> <= length; done += kLanes<T>) {
      Vector<T> real[kLanes<T>];
      Vector<T> imaginary[kLanes<T>];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<T>; ++i) {
        const Numbers<T> numbers = Numbers<T>::from(from + (done + static_cast<size_t>(i)) * kStep) * scale;
        real[i] = numbers.real;
        imaginary[i] = numbers.imaginary;
      }
      transpose<T>(real);
      transpose<T>(imaginary);
#pragma GCC unroll 16
      for (int lane = 0; lane < kLanes<T>; ++lane) {
        store_packed_numbers(line.data + to.offsets[lane] + 2 * done, Numbers<T>{real[lane], imaginary[lane]},
                             line.is_swapped);
      }
    }
  }
  const size_t real_at = line.is_swapped ? kLanes<T> : 0;
  const size_t imaginary_at = kLanes<T> - real_at;
  for (size_t lane = 0; lane < to.count; ++lane) {
    T* place = line.data + to.offsets[lane] + static_cast<int64_t>(done) * line.step;
    const T* source = from + done * kStep + lane;
    for (size_t i = done; i < length; ++i, place += line.step, source += kStep) {
      place[0] = source[real_at] * scale;
      if (!line.is_real) place[line.imaginary] = source[imaginary_at] * scale;
    }
  }
}

}  // namespace
}  // namespace flambeau::kernels::fft::FLAMBEAU_ISA
