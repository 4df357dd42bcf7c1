#include "flambeau/ops/resample/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "flambeau/base/size.h"

namespace flambeau::ops {
namespace {

template <typename T>
T step_between(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  if (align_corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
  if (scale && *scale > 0) return static_cast<T>(1.0 / *scale);
  return static_cast<T>(in) / static_cast<T>(out);
}

template <typename T>
T source_position(T step, int64_t i, bool align_corners, bool below_zero) {
  if (align_corners) return step * static_cast<T>(i);
  const T position = step * (static_cast<T>(i) + static_cast<T>(0.5)) - static_cast<T>(0.5);
  return !below_zero && position < T(0) ? T(0) : position;
}

template <typename T>
T cubic(T x, T a) {
  x = std::abs(x);
  if (x < T(1)) return ((a + T(2)) * x - (a + T(3))) * x * x + T(1);
  if (x < T(2)) return ((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a;
  return 0;
}
template <typename T>
T linear(T x) {
  x = std::abs(x);
  return x < T(1) ? T(1) - x : T(0);
}
template <typename T>
T sinc(T x) {
  if (x == T(0)) return 1;
  x *= std::numbers::pi_v<T>;
  return std::sin(x) / x;
}
template <typename T>
T lanczos(T x) {
  x = std::abs(x);
  return x < T(3) ? sinc(x) * sinc(x / T(3)) : T(0);
}

// Elements whose number is far outside of the range of float's integers are cut as PyTorch cuts them.
int64_t floor_of(double x) { return truncated_index(std::floor(static_cast<float>(x))); }

template <typename T>
void set_nearest(Taps& taps, bool is_exact, bool is_image, std::optional<double> scale) {
  const T step = step_between<T>(taps.in, taps.out, false, scale);
  for (int64_t i = 0; i < taps.out; ++i) {
    int64_t index = 0;
    if (is_exact) {
      index = floor_of(static_cast<double>((static_cast<T>(i) + static_cast<T>(0.5)) * step));
    } else if (is_image && taps.out == taps.in) {
      index = i;
    } else if (is_image && taps.out == 2 * taps.in) {
      index = i / 2;
    } else {
      index = floor_of(static_cast<double>(step * static_cast<T>(i)));
    }
    taps.index[static_cast<size_t>(i)] = std::clamp<int64_t>(index, 0, taps.in - 1);
    taps.weight[static_cast<size_t>(i)] = 1;
  }
}

// Two or four neighbours; those outside are the border's element.
template <typename T>
void set_neighbours(Taps& taps, bool is_cubic, bool align_corners, std::optional<double> scale) {
  const T step = step_between<T>(taps.in, taps.out, align_corners, scale);
  for (int64_t i = 0; i < taps.out; ++i) {
    T position = source_position<T>(step, i, align_corners, is_cubic);
    if (!is_cubic && taps.in == taps.out) position = static_cast<T>(i);
    const int64_t base = std::min(floor_of(static_cast<double>(position)), taps.in - 1);
    const T part = std::clamp(position - static_cast<T>(base), T(0), T(1));
    const int64_t first = is_cubic ? base - 1 : base;
    for (int64_t k = 0; k < taps.count; ++k) {
      const T distance = part - static_cast<T>(first + k - base);
      const auto at = static_cast<size_t>(k * taps.out + i);
      taps.index[at] = std::clamp<int64_t>(first + k, 0, taps.in - 1);
      taps.weight[at] =
          static_cast<double>(is_cubic ? cubic(distance, static_cast<T>(-0.75)) : linear(distance));
    }
  }
}

template <typename T, typename Filter>
void set_smooth(Taps& taps, int64_t width, bool align_corners, std::optional<double> scale, Filter&& filter) {
  const T step = step_between<T>(taps.in, taps.out, align_corners, scale);
  const T half = static_cast<T>(width) * static_cast<T>(0.5);
  const T support = step >= T(1) ? half * step : half;
  const T shrink = step >= T(1) ? T(1) / step : T(1);
  const Size count_of_all = truncated_size(static_cast<double>(std::ceil(support))) * 2 + 1;
  taps.count = count_of_all;
  taps.index.assign(static_cast<size_t>(count_of_all * taps.out), 0);
  taps.weight.assign(taps.index.size(), 0);
  for (int64_t i = 0; i < taps.out; ++i) {
    const T center = step * (static_cast<T>(i) + static_cast<T>(0.5));
    const int64_t begin = std::max<int64_t>(truncated_index(center - support + static_cast<T>(0.5)), 0);
    const int64_t end = std::min<int64_t>(truncated_index(center + support + static_cast<T>(0.5)), taps.in);
    const int64_t count = std::clamp<int64_t>(end - begin, 0, taps.count);
    T total = 0;
    for (int64_t k = 0; k < count; ++k) {
      total += filter((static_cast<T>(k + begin) - center + static_cast<T>(0.5)) * shrink);
    }
    for (int64_t k = 0; k < taps.count; ++k) {
      const auto at = static_cast<size_t>(k * taps.out + i);
      taps.index[at] = std::clamp<int64_t>(begin + k, 0, taps.in - 1);
      if (k >= count) continue;
      const T weight = filter((static_cast<T>(k + begin) - center + static_cast<T>(0.5)) * shrink);
      taps.weight[at] = static_cast<double>(total == T(0) ? weight : weight / total);
    }
  }
}

template <typename T>
void set_taps(Taps& taps, Resampling kind, bool align_corners, std::optional<double> scale, bool is_byte) {
  switch (kind) {
    case Resampling::kNearest:
    case Resampling::kNearestExact:
      // Bytes are placed in the arithmetic of float.
      return is_byte ? set_nearest<float>(taps, kind == Resampling::kNearestExact, true, scale)
                     : set_nearest<T>(taps, kind == Resampling::kNearestExact, true, scale);
    case Resampling::kLinear:
    case Resampling::kCubic:
      return set_neighbours<T>(taps, kind == Resampling::kCubic, align_corners, scale);
    case Resampling::kLinearSmooth:
      return set_smooth<T>(taps, 2, align_corners, scale, [](T x) { return linear(x); });
    case Resampling::kCubicSmooth:
      return set_smooth<T>(taps, 4, align_corners, scale, [](T x) { return cubic(x, static_cast<T>(-0.5)); });
    case Resampling::kLanczosSmooth:
      return set_smooth<T>(taps, 6, align_corners, scale, [](T x) { return lanczos(x); });
  }
}

}  // namespace

Taps make_taps(Resampling kind, DType dtype, int64_t in, int64_t out, bool align_corners,
               std::optional<double> scale) {
  Taps taps{.in = in, .out = out, .index = {}, .weight = {}};
  taps.count = kind == Resampling::kLinear ? 2 : kind == Resampling::kCubic ? 4 : 1;
  taps.index.resize(static_cast<size_t>(Size(taps.count) * out));
  taps.weight.resize(taps.index.size());
  const bool is_byte = dtype == DType::kUInt8;
  if (dtype == DType::kFloat64 || is_byte) {
    set_taps<double>(taps, kind, align_corners, scale, is_byte);
  } else {
    set_taps<float>(taps, kind, align_corners, scale, false);
  }
  return taps;
}

}  // namespace flambeau::ops
