#include <algorithm>
#include <limits>

#include "flambeau/ops/pool/windows.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

template <typename T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

// NaN beats everything, also an earlier NaN.
template <typename T>
inline bool beats(T value, T best) {
  return value > best || value != value;
}

int64_t divisor_at(const PoolShape& shape, int64_t depth, int64_t row, int64_t column) {
  if (shape.divisor != 0) return shape.divisor;
  const auto length = [&](const WindowAxis& axis, int64_t o) {
    return shape.includes_padding ? axis.extent[o] : axis.end[o] - axis.begin[o];
  };
  return length(shape.axes[0], depth) * length(shape.axes[1], row) * length(shape.axes[2], column);
}

int64_t plane_size(const PoolShape& shape) {
  const int64_t pixels = shape.axes[0].in * shape.axes[1].in * shape.axes[2].in;
  return shape.is_channels_last ? pixels * shape.channels : pixels;
}

// Which row of the result, and where its windows lie in depth and height.
struct RowPlace {
  int64_t plane;  // channel of the batch (channels first) or image (channels last)
  int64_t depth, row;
  RowPlace(const PoolShape& shape, int64_t index) {
    row = index % shape.axes[1].out;
    const int64_t rest = index / shape.axes[1].out;
    depth = rest % shape.axes[0].out;
    plane = rest / shape.axes[0].out;
  }
};

// Asks once in many elements whether to go on.
class Poller {
 public:
  void operator()(int64_t elements) {
    done_ += elements;
    if (done_ < kMost) return;
    done_ = 0;
    poll_pooling();
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 18;
  int64_t done_ = 0;
};

// Positions of a line whose tap k lies inside the image.
struct TapRange {
  int64_t begin, end, offset;
  TapRange(const WindowAxis& axis, int64_t tap) {
    offset = tap * axis.step - axis.padding;
    begin = offset >= 0 ? 0 : (-offset - 1) / axis.stride + 1;
    end = offset >= axis.in ? 0 : std::min(axis.out, (axis.in - 1 - offset) / axis.stride + 1);
  }
};

template <typename T>
void max_tap(const T* __restrict line, int64_t stride, T* __restrict best, int64_t count) {
  if (stride == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) best[i] = beats(line[i], best[i]) ? line[i] : best[i];
  } else if (stride == 2) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) best[i] = beats(line[2 * i], best[i]) ? line[2 * i] : best[i];
  } else {
    for (int64_t i = 0; i < count; ++i) {
      best[i] = beats(line[stride * i], best[i]) ? line[stride * i] : best[i];
    }
  }
}

template <typename T>
void max_tap_indexed(const T* __restrict line, int64_t stride, int64_t first, T* __restrict best,
                     int64_t* __restrict indices, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const T value = line[stride * i];
    const bool wins = beats(value, best[i]);
    best[i] = wins ? value : best[i];
    indices[i] = wins ? first + stride * i : indices[i];
  }
}

template <typename T>
void max_line(const PoolShape& shape, const T* in, T* out, int64_t* indices, const RowPlace& place,
              Poller& poll) {
  const auto& [depths, rows, columns] = shape.axes;
  const int64_t d = place.depth;
  const int64_t h = place.row;
  std::fill_n(out, columns.out, kLowest<T>);
  const int64_t start = (depths.begin[d] * rows.in + rows.begin[h]) * columns.in;
  if (indices != nullptr) {
    for (int64_t w = 0; w < columns.out; ++w) indices[w] = start + columns.begin[w];
  }
  for (int64_t z = depths.begin[d]; z < depths.end[d]; z += depths.step) {
    for (int64_t y = rows.begin[h]; y < rows.end[h]; y += rows.step) {
      const int64_t at = (z * rows.in + y) * columns.in;
      const T* const line = in + at;
      if (columns.is_regular) {
        for (int64_t k = 0; k < columns.kernel; ++k) {
          const TapRange range(columns, k);
          if (range.begin >= range.end) continue;
          poll(range.end - range.begin);
          const int64_t from = range.begin * columns.stride + range.offset;
          if (indices == nullptr) {
            max_tap(line + from, columns.stride, out + range.begin, range.end - range.begin);
          } else {
            max_tap_indexed(line + from, columns.stride, at + from, out + range.begin, indices + range.begin,
                            range.end - range.begin);
          }
        }
      } else {
        for (int64_t w = 0; w < columns.out; ++w) {
          poll(columns.end[w] - columns.begin[w] + 1);
          for (int64_t x = columns.begin[w]; x < columns.end[w]; x += columns.step) {
            if (!beats(line[x], out[w])) continue;
            out[w] = line[x];
            if (indices != nullptr) indices[w] = at + x;
          }
        }
      }
    }
  }
}

template <typename T>
void max_line_last(const PoolShape& shape, const T* in, T* out, int64_t* indices, const RowPlace& place,
                   Poller& poll) {
  const auto& [depths, rows, columns] = shape.axes;
  const int64_t d = place.depth;
  const int64_t h = place.row;
  const int64_t channels = shape.channels;
  for (int64_t w = 0; w < columns.out; ++w) {
    T* const __restrict best = out + w * channels;
    int64_t* const __restrict index = indices == nullptr ? nullptr : indices + w * channels;
    std::fill_n(best, channels, kLowest<T>);
    if (index != nullptr) {
      std::fill_n(index, channels,
                  (depths.begin[d] * rows.in + rows.begin[h]) * columns.in + columns.begin[w]);
    }
    for (int64_t z = depths.begin[d]; z < depths.end[d]; z += depths.step) {
      for (int64_t y = rows.begin[h]; y < rows.end[h]; y += rows.step) {
        for (int64_t x = columns.begin[w]; x < columns.end[w]; x += columns.step) {
          poll(channels);
          const int64_t at = (z * rows.in + y) * columns.in + x;
          const T* const __restrict pixel = in + at * channels;
          if (index == nullptr) {
#pragma GCC ivdep
            for (int64_t c = 0; c < channels; ++c) best[c] = beats(pixel[c], best[c]) ? pixel[c] : best[c];
          } else {
#pragma GCC ivdep
            for (int64_t c = 0; c < channels; ++c) {
              const bool wins = beats(pixel[c], best[c]);
              best[c] = wins ? pixel[c] : best[c];
              index[c] = wins ? at : index[c];
            }
          }
        }
      }
    }
  }
}

template <typename T>
void max_rows(const PoolShape& shape, const T* in, T* out, int64_t* indices, int64_t begin, int64_t end) {
  const int64_t width = shape.axes[2].out * (shape.is_channels_last ? shape.channels : 1);
  const int64_t plane = plane_size(shape);
  Poller poll;
  for (int64_t i = begin; i < end; ++i) {
    const RowPlace place(shape, i);
    int64_t* const index = indices == nullptr ? nullptr : indices + i * width;
    if (shape.is_channels_last) {
      max_line_last(shape, in + place.plane * plane, out + i * width, index, place, poll);
    } else {
      max_line(shape, in + place.plane * plane, out + i * width, index, place, poll);
    }
  }
}

// A sum in several lanes, which the compiler keeps in vectors.
template <typename T>
T sum_of(const T* values, int64_t count) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  T sum = 0;
  for (; i < count; ++i) sum += values[i];
  for (int64_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  return sum;
}

template <typename T>
void mean_line(const PoolShape& shape, const T* in, T* out, const RowPlace& place, Poller& poll) {
  const auto& [depths, rows, columns] = shape.axes;
  const int64_t d = place.depth;
  const int64_t h = place.row;
  if (columns.out == 1 && columns.end[0] - columns.begin[0] == columns.in) {
    // Whole lines, which lie one after the other.
    out[0] = 0;
    for (int64_t z = depths.begin[d]; z < depths.end[d]; ++z) {
      poll((rows.end[h] - rows.begin[h]) * columns.in);
      out[0] +=
          sum_of(in + (z * rows.in + rows.begin[h]) * columns.in, (rows.end[h] - rows.begin[h]) * columns.in);
    }
    const int64_t divisor = divisor_at(shape, place.depth, place.row, 0);
    if (divisor != 0) out[0] /= static_cast<T>(divisor);
    return;
  }
  std::fill_n(out, columns.out, T(0));
  for (int64_t z = depths.begin[d]; z < depths.end[d]; ++z) {
    for (int64_t y = rows.begin[h]; y < rows.end[h]; ++y) {
      const T* const line = in + (z * rows.in + y) * columns.in;
      if (columns.is_regular && columns.out > 4) {
        for (int64_t k = 0; k < columns.kernel; ++k) {
          const TapRange range(columns, k);
          poll(columns.out);
          const T* const __restrict from = line + range.offset;
#pragma GCC ivdep
          for (int64_t w = range.begin; w < range.end; ++w) out[w] += from[w * columns.stride];
        }
      } else {
        for (int64_t w = 0; w < columns.out; ++w) {
          poll(columns.end[w] - columns.begin[w] + 1);
          out[w] += sum_of(line + columns.begin[w], columns.end[w] - columns.begin[w]);
        }
      }
    }
  }
  for (int64_t w = 0; w < columns.out; ++w) {
    const int64_t divisor = divisor_at(shape, place.depth, place.row, w);
    out[w] = divisor == 0 ? out[w] : out[w] / static_cast<T>(divisor);
  }
}

template <typename T>
void mean_line_last(const PoolShape& shape, const T* in, T* out, const RowPlace& place, Poller& poll) {
  const auto& [depths, rows, columns] = shape.axes;
  const int64_t d = place.depth;
  const int64_t h = place.row;
  const int64_t channels = shape.channels;
  for (int64_t w = 0; w < columns.out; ++w) {
    T* const __restrict sum = out + w * channels;
    std::fill_n(sum, channels, T(0));
    for (int64_t z = depths.begin[d]; z < depths.end[d]; ++z) {
      for (int64_t y = rows.begin[h]; y < rows.end[h]; ++y) {
        for (int64_t x = columns.begin[w]; x < columns.end[w]; ++x) {
          poll(channels);
          const T* const __restrict pixel = in + ((z * rows.in + y) * columns.in + x) * channels;
#pragma GCC ivdep
          for (int64_t c = 0; c < channels; ++c) sum[c] += pixel[c];
        }
      }
    }
    const int64_t divisor = divisor_at(shape, place.depth, place.row, w);
    if (divisor == 0) continue;
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) sum[c] = sum[c] / static_cast<T>(divisor);
  }
}

template <typename T>
void mean_rows(const PoolShape& shape, const T* in, T* out, int64_t begin, int64_t end) {
  const int64_t width = shape.axes[2].out * (shape.is_channels_last ? shape.channels : 1);
  const int64_t plane = plane_size(shape);
  Poller poll;
  for (int64_t i = begin; i < end; ++i) {
    const RowPlace place(shape, i);
    if (shape.is_channels_last) {
      mean_line_last(shape, in + place.plane * plane, out + i * width, place, poll);
    } else {
      mean_line(shape, in + place.plane * plane, out + i * width, place, poll);
    }
  }
}

template <typename T>
constexpr PoolLoops<T> kLoops = {&max_rows<T>, &mean_rows<T>};

}  // namespace

const PoolLoops<float>& float_pool() { return kLoops<float>; }
const PoolLoops<double>& double_pool() { return kLoops<double>; }
const PoolLoops<int64_t>& int_pool() { return kLoops<int64_t>; }

}  // namespace flambeau::ops::FLAMBEAU_ISA
