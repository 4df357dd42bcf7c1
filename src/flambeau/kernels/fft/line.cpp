#include "flambeau/kernels/fft/line.h"

#include <algorithm>

#include "flambeau/base/work.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels::fft {
namespace {

template <typename T>
Size bytes_in_lanes(size_t numbers) {
  return Size(numbers) * (2 * sizeof(T) * loops<T>().lanes);
}

// One lane of many: quicker than cutting so short a line.
template <typename T>
void transform_short(const LanePlan<T>& plan, const Line<const T>& from, const Line<T>& to, T scale) {
  const Scratch scratch(bytes_in_lanes<T>(3 * plan.length));
  const int64_t offsets[MirrorPlan<T>::kMostLanes] = {};
  loops<T>().transform(plan, {from, offsets, 1}, {to, offsets, 1}, scale, scratch.as<T>());
}

template <typename T>
void transform_split(ThreadPool& pool, const SplitPlan<T>& plan, const Line<const T>& from, const Line<T>& to,
                     T scale) {
  const Loops<T>& best = loops<T>();
  const size_t height = plan.columns.length;
  const size_t width = plan.rows.length;
  const size_t down = (height + best.lanes - 1) / best.lanes;
  const size_t across = (width + best.lanes - 1) / best.lanes;
  const Size grid_size = bytes_in_lanes<T>(static_cast<size_t>(Size(down) * width));
  const Scratch memory(grid_size + bytes_in_lanes<T>(3 * std::max(height, width)));
  T* const grid = memory.as<T>();
  const auto share = [&](size_t blocks, size_t length, auto&& block) {
    const auto piece = [&](size_t begin, size_t end, T* scratch) {
      WorkPoller poll;
      for (size_t i = begin; i < end; ++i) {
        poll(length * best.lanes);
        block(i, scratch);
      }
    };
    const double operations = 10.0 * static_cast<double>(length) * static_cast<double>(best.lanes);
    const size_t grain = Cost{.operations = operations}.grain();
    if (blocks <= grain || pool.threads() == 1) {
      return piece(0, blocks, grid + grid_size / static_cast<int64_t>(sizeof(T)));
    }
    pool.for_each_range(blocks, grain, [&](size_t begin, size_t end) {
      const Scratch own(bytes_in_lanes<T>(3 * length));
      piece(begin, end, own.template as<T>());
    });
  };
  share(across, height, [&](size_t block, T* scratch) { best.columns(plan, block, from, grid, scratch); });
  share(down, width, [&](size_t block, T* scratch) { best.rows(plan, block, grid, to, scale, scratch); });
}

// The line times a chirp, convolved with the chirp, times the chirp.
template <typename T>
void transform_chirp(ThreadPool& pool, const ChirpPlan<T>& plan, const Line<const T>& from, const Line<T>& to,
                     T scale) {
  const size_t length = plan.chirp.size();
  const size_t inner = plan.spectrum.size();
  const Scratch memory(Size(inner) * 2 * sizeof(std::complex<T>));
  T* const wave = memory.as<T>();
  T* const spectrum = wave + 2 * inner;
  WorkPoller poll;
  const int64_t real_at = from.is_swapped ? 1 : 0;
  for (size_t i = 0; i < length; ++i) {
    poll();
    const T* const place = from.data + static_cast<int64_t>(i) * from.step;
    T parts[2];
    parts[real_at] = place[0];
    parts[1 - real_at] = from.is_real ? T(0) : place[from.imaginary];
    const std::complex<T> turn = plan.chirp[i];
    wave[2 * i] = parts[0] * turn.real() - parts[1] * turn.imag();
    wave[2 * i + 1] = parts[0] * turn.imag() + parts[1] * turn.real();
  }
  std::fill(wave + 2 * length, wave + 2 * inner, T(0));
  transform_line<T>(pool, *plan.inner, {wave, 2, 1, false}, {spectrum, 2, 1, false}, T(1));
  for (size_t i = 0; i < inner; ++i) {
    poll();
    const T real = spectrum[2 * i], imaginary = spectrum[2 * i + 1];
    const std::complex<T> turn = plan.spectrum[i];
    spectrum[2 * i] = real * turn.real() - imaginary * turn.imag();
    spectrum[2 * i + 1] = real * turn.imag() + imaginary * turn.real();
  }
  transform_line<T>(pool, *plan.inner, {spectrum, 2, 1, true}, {wave, 2, 1, true}, T(1));
  const int64_t to_real = to.is_swapped ? 1 : 0;
  for (size_t i = 0; i < length; ++i) {
    poll();
    T* const place = to.data + static_cast<int64_t>(i) * to.step;
    const std::complex<T> turn = plan.chirp[i] * scale;
    const T parts[2] = {wave[2 * i] * turn.real() - wave[2 * i + 1] * turn.imag(),
                        wave[2 * i] * turn.imag() + wave[2 * i + 1] * turn.real()};
    place[0] = parts[to_real];
    if (!to.is_real) place[to.imaginary] = parts[1 - to_real];
  }
}

}  // namespace

template <>
const Loops<float>& loops<float>() {
  static const Loops<float> best = FLAMBEAU_PICK(float_loops)();
  return best;
}
template <>
const Loops<double>& loops<double>() {
  static const Loops<double> best = FLAMBEAU_PICK(double_loops)();
  return best;
}

template <typename T>
void transform_line(ThreadPool& pool, const LinePlan<T>& plan, const Line<const T>& from, const Line<T>& to,
                    T scale) {
  if (plan.lane) return transform_short(*plan.lane, from, to, scale);
  if (plan.split) return transform_split(pool, *plan.split, from, to, scale);
  transform_chirp(pool, *plan.chirp, from, to, scale);
}

template <typename T>
void transform_packed(const LinePlan<T>& plan, const std::complex<T>* from, std::complex<T>* to) {
  ThreadPool alone(1);
  transform_line<T>(alone, plan, {reinterpret_cast<const T*>(from), 2, 1, false},
                    {reinterpret_cast<T*>(to), 2, 1, false}, T(1));
}

template void transform_line<float>(ThreadPool&, const LinePlan<float>&, const Line<const float>&,
                                    const Line<float>&, float);
template void transform_line<double>(ThreadPool&, const LinePlan<double>&, const Line<const double>&,
                                     const Line<double>&, double);
template void transform_packed<float>(const LinePlan<float>&, const std::complex<float>*,
                                      std::complex<float>*);
template void transform_packed<double>(const LinePlan<double>&, const std::complex<double>*,
                                       std::complex<double>*);

}  // namespace flambeau::kernels::fft
