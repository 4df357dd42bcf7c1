// Transforms of lanes, of a long line's columns and rows, and between real lines and complex ones.
#include "flambeau/kernels/fft/lanes_isa.h"

namespace flambeau::kernels::fft::FLAMBEAU_ISA {
namespace {

template <typename T>
void transform(const LanePlan<T>& plan, const Lanes<const T>& from, const Lanes<T>& to, T scale, T* scratch) {
  const size_t size = plan.length * 2 * kLanes<T>;
  load_lanes(from, plan.length, scratch);
  const T* const result = run_passes(plan, scratch, scratch + size, scratch + 2 * size);
  store_lanes(result, plan.length, scale, to);
}

// The lanes of a line's part: `count` of them from `first` on.
template <typename T>
void set_offsets(int64_t (&offsets)[kLanes<T>], int64_t step, size_t count) {
  for (size_t lane = 0; lane < kLanes<T>; ++lane) {
    offsets[lane] = static_cast<int64_t>(lane < count ? lane : count - 1) * step;
  }
}

template <typename T>
void columns(const SplitPlan<T>& plan, size_t block, const Line<const T>& from, T* grid, T* scratch) {
  constexpr size_t kStep = 2 * kLanes<T>;
  const size_t length = plan.columns.length;
  const size_t width = plan.rows.length;
  const size_t first = block * kLanes<T>;
  const size_t count = width - first < kLanes<T> ? width - first : kLanes<T>;
  int64_t offsets[kLanes<T>];
  set_offsets<T>(offsets, from.step, count);
  const Line<const T> column = {from.data + static_cast<int64_t>(first) * from.step,
                                static_cast<int64_t>(width) * from.step, from.imaginary, from.is_swapped,
                                from.is_real};
  load_lanes<T>({column, offsets, count}, length, scratch);
  T* const second = scratch + length * kStep;
  const T* const result = run_passes(plan.columns, scratch, second, scratch + 2 * length * kStep);

  // Number k of lane j is turned by root^((first + j) * k), and joins those of the same k.
  const size_t mask = (size_t{1} << plan.shift) - 1;
  const size_t total = plan.length();
  size_t e = 0;
  for (size_t k = 0; k < length; k += kLanes<T>) {
    Vector<T> real[kLanes<T>] = {};
    Vector<T> imaginary[kLanes<T>] = {};
    const size_t end = length - k < kLanes<T> ? length - k : kLanes<T>;
    for (size_t i = 0; i < end; ++i) {
      const std::complex<double>& coarse = plan.coarse[e >> plan.shift];
      const std::complex<double>& fine = plan.fine[e & mask];
      const T cosine = static_cast<T>(coarse.real() * fine.real() - coarse.imag() * fine.imag());
      const T sine = static_cast<T>(coarse.real() * fine.imag() + coarse.imag() * fine.real());
      e += first;
      if (e >= total) e -= total;
      const Numbers<T> turn = Numbers<T>::from(plan.lane_turns.data() + (k + i) * kStep).turned(cosine, sine);
      const Numbers<T> number = Numbers<T>::from(result + (k + i) * kStep);
      real[i] = number.real * turn.real - number.imaginary * turn.imaginary;
      imaginary[i] = number.real * turn.imaginary + number.imaginary * turn.real;
    }
    transpose<T>(real);
    transpose<T>(imaginary);
    T* const to = grid + (k / kLanes<T> * width + first) * kStep;
    for (size_t lane = 0; lane < count; ++lane) {
      Numbers<T>{real[lane], imaginary[lane]}.to(to + lane * kStep);
    }
  }
}

template <typename T>
void rows(const SplitPlan<T>& plan, size_t block, const T* grid, const Line<T>& to, T scale, T* scratch) {
  constexpr size_t kStep = 2 * kLanes<T>;
  const size_t length = plan.rows.length;
  const size_t height = plan.columns.length;
  const size_t first = block * kLanes<T>;
  const size_t count = height - first < kLanes<T> ? height - first : kLanes<T>;
  const T* const result =
      run_passes(plan.rows, grid + block * length * kStep, scratch, scratch + length * kStep);
  int64_t offsets[kLanes<T>];
  set_offsets<T>(offsets, to.step, count);
  const Line<T> row = {to.data + static_cast<int64_t>(first) * to.step,
                       static_cast<int64_t>(height) * to.step, to.imaginary, to.is_swapped, to.is_real};
  store_lanes<T>(result, length, scale, {row, offsets, count});
}

template <typename T, int... kIndex>
Vector<T> reversed(const Vector<T>& vector, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(vector, vector, (static_cast<int>(sizeof...(kIndex)) - 1 - kIndex)...);
}
template <typename T>
Numbers<T> reversed(const Numbers<T>& numbers) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes<T>>();
  return {reversed<T>(numbers.real, kAll), reversed<T>(numbers.imaginary, kAll)};
}

// Of vectors, or of plain numbers.
template <typename V, typename T>
struct Mirrored {
  V real, imaginary;          // of k
  V far_real, far_imaginary;  // of half - k
  [[gnu::always_inline]] Mirrored(const V& a, const V& b, const V& c, const V& d, const V& cosine,
                                  const V& sine, T scale) {
    const V even_real = a + c, even_imaginary = b - d;
    const V odd_real = a - c, odd_imaginary = b + d;
    const V turned_real = cosine * odd_imaginary + sine * odd_real;
    const V turned_imaginary = sine * odd_imaginary - cosine * odd_real;
    real = (even_real + turned_real) * scale;
    imaginary = (even_imaginary + turned_imaginary) * scale;
    far_real = (even_real - turned_real) * scale;
    far_imaginary = (turned_imaginary - even_imaginary) * scale;
  }
};

template <typename T>
void mirror(const MirrorPlan<T>& plan, size_t half, size_t begin, size_t end, bool is_forward, T scale,
            const T* from, T* to) {
  constexpr size_t kFine = MirrorPlan<T>::kFine;
  const T sign = is_forward ? T(1) : T(-1);
  size_t k = begin;
  // Vectors of both ends must not meet.
  for (; k + kLanes<T> <= end && k + kLanes<T> - 1 < half - (k + kLanes<T> - 1); k += kLanes<T>) {
    const std::complex<T> coarse = plan.coarse[k / kFine];
    const Numbers<T> fine = {load(plan.fine_real.data() + k % kFine),
                             load(plan.fine_imaginary.data() + k % kFine)};
    const Numbers<T> turn = fine.turned(coarse.real(), coarse.imag());
    const Numbers<T> near = load_packed_numbers(from + 2 * k, false);
    const size_t opposite = 2 * (half - k - kLanes<T> + 1);
    const Numbers<T> far = reversed<T>(load_packed_numbers(from + opposite, false));
    const Mirrored<Vector<T>, T> result(near.real, near.imaginary, far.real, far.imaginary, turn.real * sign,
                                        turn.imaginary, scale);
    store_packed_numbers(to + 2 * k, Numbers<T>{result.real, result.imaginary}, false);
    store_packed_numbers(to + opposite, reversed<T>(Numbers<T>{result.far_real, result.far_imaginary}),
                         false);
  }
  for (; k < end; ++k) {
    const std::complex<T> coarse = plan.coarse[k / kFine];
    const T fine_real = plan.fine_real[k % kFine], fine_imaginary = plan.fine_imaginary[k % kFine];
    const T cosine = coarse.real() * fine_real - coarse.imag() * fine_imaginary;
    const T sine = coarse.real() * fine_imaginary + coarse.imag() * fine_real;
    const size_t opposite = half - k;
    const Mirrored<T, T> result(from[2 * k], from[2 * k + 1], from[2 * opposite], from[2 * opposite + 1],
                                cosine * sign, sine, scale);
    to[2 * k] = result.real;
    to[2 * k + 1] = result.imaginary;
    to[2 * opposite] = result.far_real;
    to[2 * opposite + 1] = result.far_imaginary;
  }
}

// The same in lanes, where every k has its own turn; and numbers 0 and half, which are real.
template <typename T>
void mirror_lanes(const MirrorPlan<T>& plan, size_t half, bool is_forward, const T* from, T* to) {
  constexpr size_t kStep = 2 * kLanes<T>;
  constexpr size_t kFine = MirrorPlan<T>::kFine;
  const T scale = is_forward ? T(0.5) : T(1);
  for (size_t k = 1; k <= half / 2; ++k) {
    const std::complex<T> coarse = plan.coarse[k / kFine];
    const T fine_real = plan.fine_real[k % kFine], fine_imaginary = plan.fine_imaginary[k % kFine];
    const T cosine = coarse.real() * fine_real - coarse.imag() * fine_imaginary;
    const T sine = coarse.real() * fine_imaginary + coarse.imag() * fine_real;
    const Numbers<T> near = Numbers<T>::from(from + k * kStep);
    const Numbers<T> far = Numbers<T>::from(from + (half - k) * kStep);
    const Vector<T> zero = {};
    const Mirrored<Vector<T>, T> result(near.real, near.imaginary, far.real, far.imaginary,
                                        zero + (is_forward ? cosine : -cosine), zero + sine, scale);
    Numbers<T>{result.real, result.imaginary}.to(to + k * kStep);
    Numbers<T>{result.far_real, result.far_imaginary}.to(to + (half - k) * kStep);
  }
  const Numbers<T> first = Numbers<T>::from(from);
  const Vector<T> second = is_forward ? first.imaginary : load(from + half * kStep);
  const Numbers<T> ends = {first.real + second, first.real - second};
  if (!is_forward) return ends.to(to);
  Numbers<T>{ends.real, Vector<T>{}}.to(to);
  Numbers<T>{ends.imaginary, Vector<T>{}}.to(to + half * kStep);
}

template <typename T>
void transform_real(const LanePlan<T>& plan, const MirrorPlan<T>* turns, size_t length, bool is_forward,
                    const Lanes<const T>& from, const Lanes<T>& to, T scale, T* scratch) {
  constexpr size_t kStep = 2 * kLanes<T>;
  const size_t kept = length / 2 + 1;
  const size_t size = (plan.length + 1) * kStep;
  T* const second = scratch + size;
  T* const third = second + size;
  if (is_forward) {
    load_lanes(from, plan.length, scratch);
    const T* result = run_passes(plan, scratch, second, third);
    if (turns != nullptr) {
      T* const mirrored = result == scratch ? second : scratch;
      mirror_lanes(*turns, plan.length, true, result, mirrored);
      result = mirrored;
    }
    return store_lanes(result, kept, scale, to);
  }
  load_lanes(from, kept, scratch);
  const T* numbers = scratch;
  if (turns != nullptr) {
    mirror_lanes(*turns, plan.length, false, scratch, second);
    numbers = second;
  } else {
    // The other half, and no imaginary part of the first number.
    store(scratch + kLanes<T>, Vector<T>{});
    for (size_t k = 1; k < kept; ++k) {
      const Numbers<T> number = Numbers<T>::from(scratch + k * kStep);
      Numbers<T>{number.real, -number.imaginary}.to(scratch + (length - k) * kStep);
    }
  }
  // Backward: with the parts exchanged.
  T* const exchanged = numbers == scratch ? second : scratch;
  for (size_t k = 0; k < plan.length; ++k) {
    const Numbers<T> number = Numbers<T>::from(numbers + k * kStep);
    Numbers<T>{number.imaginary, number.real}.to(exchanged + k * kStep);
  }
  store_lanes(run_passes(plan, exchanged, third, exchanged == scratch ? second : scratch), plan.length, scale,
              to);
}

template <typename T>
Loops<T> loops_of() {
  return {kLanes<T>, &transform<T>, &transform_real<T>, &columns<T>, &rows<T>, &mirror<T>};
}

}  // namespace

Loops<float> float_loops() { return loops_of<float>(); }
Loops<double> double_loops() { return loops_of<double>(); }

}  // namespace flambeau::kernels::fft::FLAMBEAU_ISA
