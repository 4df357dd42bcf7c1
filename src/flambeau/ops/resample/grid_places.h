// How the coordinates of a grid, from -1 to 1, become positions in an image.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/resample/taps.h"

namespace flambeau::ops::grid {

enum Interpolation : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

template <typename N>
Info<N> sampled_info(const Info<N>& input, const Info<N>& grid, size_t dims, Size interpolation) {
  require(input.dim() == dims + 2,
          "grid_sampler(): expected the input to have as many dimensions as the grid");
  require(grid.dim() == dims + 2 && input.sizes[0] == grid.sizes[0],
          "grid_sampler(): expected grid and input to have same batch size");
  require(grid.sizes[dims + 1] == N(static_cast<int64_t>(dims)),
          "grid_sampler(): expected grid to have one coordinate for each dimension of space in its last "
          "dimension");
  require(input.dtype == grid.dtype, "grid_sampler(): expected input and grid to have the same dtype");
  require(dims == 2 || interpolation != kBicubic,
          "grid_sampler(): bicubic interpolation only supports 4D input");
  ShortList<N> sizes{input.sizes[0], input.sizes[1]};
  for (size_t d = 0; d < dims; ++d) {
    require(input.sizes[d + 2] > N(0), "grid_sampler(): expected input to have non-empty spatial dimensions");
    sizes.push_back(grid.sizes[d + 1]);
  }
  return contiguous<N>(input.dtype, std::move(sizes), input.device);
}

template <typename T>
T reflected(T x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return 0;
  const T low = static_cast<T>(twice_low) / 2;
  const T span = static_cast<T>(twice_high - twice_low) / 2;
  x = std::abs(x - low);
  const T rest = std::fmod(x, span);
  const int64_t flips = truncated_index(std::floor(x / span));
  return flips % 2 == 0 ? rest + low : span - rest + low;
}

// How one coordinate of a grid, from -1 to 1, becomes a position in an image.
struct Placement {
  int64_t padding;
  bool align_corners;

  template <typename T>
  T unnormalized(T coordinate, int64_t size) const {
    return align_corners ? (coordinate + 1) / 2 * static_cast<T>(size - 1)
                         : ((coordinate + 1) * static_cast<T>(size) - 1) / 2;
  }
  template <typename T>
  T padded(T x, int64_t size) const {
    if (padding == kZeros) return x;
    if (padding == kReflection)
      x = align_corners ? reflected<T>(x, 0, 2 * (size - 1)) : reflected<T>(x, -1, 2 * size - 1);
    return std::min(static_cast<T>(size - 1), std::max(x, T(0)));
  }
  template <typename T>
  T position(T coordinate, int64_t size) const {
    return padded(unnormalized(coordinate, size), size);
  }
};

inline int64_t as_index(double x) {
  // Positions that no integer holds lie outside of every image.
  return x > -9e15 && x < 9e15 ? static_cast<int64_t>(x) : int64_t{-1};
}

template <typename T>
std::array<T, 4> cubic_weights(T t) {
  const T a = static_cast<T>(-0.75);
  const auto near = [&](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [&](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

}  // namespace flambeau::ops::grid
