// Images sampled where a grid says: grid_sampler in two and three dimensions, and grids of affine maps.
#include <algorithm>
#include <array>
#include <cmath>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/resample/grid_places.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

using namespace grid;

// An element of an image that is zero outside.
struct Tap {
  int64_t offset;  // -1: outside
  double weight;
};

template <typename T>
class Sampler {
 public:
  Sampler(std::span<const int64_t> sizes, int64_t interpolation, const Placement& placement)
      : sizes_(sizes), interpolation_(interpolation), placement_(placement) {}

  // `coordinates` are x, y and z, the last dimension first. Gives the number of taps.
  size_t taps(const T* coordinates, std::array<Tap, 16>& taps) const {
    if (interpolation_ == kBicubic) return bicubic(coordinates, taps);
    const size_t dims = sizes_.size();
    std::array<T, 3> position{};
    for (size_t d = 0; d < dims; ++d) {
      position[d] = placement_.position(coordinates[dims - 1 - d], sizes_[d]);
    }
    if (interpolation_ == kNearest) {
      std::array<int64_t, 3> index{};
      for (size_t d = 0; d < dims; ++d) {
        index[d] = as_index(static_cast<double>(std::nearbyint(position[d])));
      }
      taps[0] = {offset(index), 1};
      return 1;
    }
    // Of each dimension the lower neighbour and the higher one.
    std::array<std::array<int64_t, 2>, 3> index{};
    std::array<std::array<T, 2>, 3> weight{};
    for (size_t d = 0; d < dims; ++d) {
      const T low = std::floor(position[d]);
      const int64_t at = as_index(static_cast<double>(low));
      index[d] = {at, at >= -1 ? at + 1 : at};
      weight[d] = {low + 1 - position[d], position[d] - low};
    }
    for (size_t corner = 0; corner < size_t{1} << dims; ++corner) {
      std::array<int64_t, 3> at{};
      T product = 1;
      for (size_t d = 0; d < dims; ++d) {
        const size_t is_high = corner >> (dims - 1 - d) & 1;
        at[d] = index[d][is_high];
        product *= weight[d][is_high];
      }
      taps[corner] = {offset(at), static_cast<double>(product)};
    }
    return size_t{1} << dims;
  }

 private:
  int64_t offset(const std::array<int64_t, 3>& index) const {
    int64_t at = 0;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (index[d] < 0 || index[d] >= sizes_[d]) return -1;
      at = at * sizes_[d] + index[d];
    }
    return at;
  }

  // Every tap is padded by itself.
  size_t bicubic(const T* coordinates, std::array<Tap, 16>& taps) const {
    const T y = placement_.unnormalized(coordinates[1], sizes_[0]);
    const T x = placement_.unnormalized(coordinates[0], sizes_[1]);
    const T row = std::floor(y);
    const T column = std::floor(x);
    const std::array<T, 4> rows = cubic_weights<T>(y - row);
    const std::array<T, 4> columns = cubic_weights<T>(x - column);
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        const T at_y = placement_.padded(row + static_cast<T>(i) - 1, sizes_[0]);
        const T at_x = placement_.padded(column + static_cast<T>(j) - 1, sizes_[1]);
        taps[i * 4 + j] = {
            offset({as_index(static_cast<double>(at_y)), as_index(static_cast<double>(at_x)), 0}),
            static_cast<double>(rows[i] * columns[j])};
      }
    }
    return 16;
  }

  std::span<const int64_t> sizes_;
  int64_t interpolation_;
  Placement placement_;
};

constexpr size_t kSamples = 64;

// The taps that are inside of the image.
template <typename T>
class InsideTaps {
 public:
  void set(std::span<const Tap> taps) {
    count_ = 0;
    for (const Tap& tap : taps) {
      if (tap.offset < 0) continue;
      offsets_[count_] = tap.offset;
      weights_[count_++] = static_cast<T>(tap.weight);
    }
  }
  T sum(const T* plane) const {
    T sum = 0;
    if (count_ == 4) {
      for (size_t k = 0; k < 4; ++k) sum += plane[offsets_[k]] * weights_[k];
      return sum;
    }
    for (size_t k = 0; k < count_; ++k) sum += plane[offsets_[k]] * weights_[k];
    return sum;
  }

 private:
  size_t count_ = 0;
  std::array<int64_t, 16> offsets_;
  std::array<T, 16> weights_;
};

template <typename T>
void sample(Context& context, const Tensor& input, const Tensor& grid, int64_t interpolation,
            const Placement& placement, const Tensor& out) {
  const std::span<const int64_t> sizes = input.sizes().span().subspan(2);
  const Sampler<T> sampler(sizes, interpolation, placement);
  const int64_t channels = input.sizes()[1];
  int64_t pixels = 1, samples = 1;
  for (const int64_t size : sizes) pixels *= size;
  for (const int64_t size : out.sizes().span().subspan(2)) samples *= size;
  const auto dims = static_cast<int64_t>(sizes.size());
  const T* const from = input.data<T>();
  const T* const places = grid.data<T>();
  T* const to = out.mutable_data<T>();
  const auto grain = static_cast<size_t>(std::max<int64_t>(4096 / (channels + 1), 1));
  context.pool().for_each_range(
      static_cast<size_t>(input.sizes()[0] * samples), grain, [&](size_t begin, size_t end) {
        // The taps of some samples first, then channel by channel, so that results are written in order.
        std::array<InsideTaps<T>, kSamples> block;
        std::array<Tap, 16> taps;
        WorkPoller poll;
        for (auto first = static_cast<int64_t>(begin); first < static_cast<int64_t>(end);) {
          const int64_t image = first / samples;
          const int64_t place = first % samples;
          const int64_t count =
              std::min({static_cast<int64_t>(end) - first, samples - place, int64_t{kSamples}});
          poll(static_cast<size_t>(count * (channels + 1)));
          for (int64_t i = 0; i < count; ++i) {
            const size_t found = sampler.taps(places + (first + i) * dims, taps);
            block[static_cast<size_t>(i)].set(std::span(taps.data(), found));
          }
          for (int64_t c = 0; c < channels; ++c) {
            const T* const plane = from + (image * channels + c) * pixels;
            T* const row = to + (image * channels + c) * samples + place;
            for (int64_t i = 0; i < count; ++i) row[i] = block[static_cast<size_t>(i)].sum(plane);
          }
          first += count;
        }
      });
}

void run(Context& context, const Tensor& input, const Tensor& grid, Size interpolation, Size padding,
         bool align_corners, Tensor& out) {
  if (!is_floating(out.dtype())) fail_dtype("grid_sampler_2d_cpu_kernel_impl", out.dtype());
  const DType dtype = compute_dtype(out.dtype());
  const auto packed_as = [&](const Tensor& tensor) {
    if (tensor.dtype() == dtype && tensor.is_contiguous()) return tensor;
    const Tensor made = context.allocate(dtype, tensor.sizes());
    copy_into(context, tensor, made);
    return made;
  };
  const Tensor image = packed_as(input);
  const Tensor places = packed_as(grid);
  const Tensor to = out.dtype() == dtype ? out : context.allocate(dtype, out.sizes());
  const Placement placement{padding, align_corners};
  if (dtype == DType::kFloat64) {
    sample<double>(context, image, places, interpolation, placement, to);
  } else {
    sample<float>(context, image, places, interpolation, placement, to);
  }
  if (to.storage() != out.storage()) copy_into(context, to, out);
}

template <typename N, size_t kDims>
Info<N> sampler_shape(const Info<N>& input, const Info<N>& grid, Size interpolation_mode, Size, bool) {
  // Without a fixed number, as many dimensions as the input has.
  return sampled_info(input, grid, kDims == 0 ? (input.dim() == 5 ? 3 : 2) : kDims, interpolation_mode);
}

// ---- affine maps: grid[n, h, w] = theta[n] * (x, y, 1)

template <typename N>
Info<N> affine_shape(const Info<N>& theta, std::span<const N> size, bool) {
  require(size.size() == 4 || size.size() == 5,
          "affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs.");
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  require(theta.dim() == 3 && theta.sizes[0] == size[0] && theta.sizes[1] == N(dims) &&
              theta.sizes[2] == N(dims + 1),
          "affine_grid_generator: theta must have a matrix for each image");
  ShortList<N> sizes{size[0]};
  for (size_t d = 2; d < size.size(); ++d) sizes.push_back(size[d]);
  sizes.push_back(dims);
  return contiguous<N>(theta.dtype, std::move(sizes), theta.device);
}

double place(int64_t index, int64_t size, bool align_corners) {
  if (size <= 1) return 0;
  const double between = -1.0 + 2.0 * static_cast<double>(index) / static_cast<double>(size - 1);
  return align_corners ? between : between * static_cast<double>(size - 1) / static_cast<double>(size);
}

void affine_kernel(Context& context, const Tensor& theta, std::span<const Size> size, bool align_corners,
                   Tensor& out) {
  if (!is_floating(out.dtype())) fail_dtype("affine_grid_generator", out.dtype());
  const auto numbers = [&](const Tensor& tensor, bool copies) {
    const Tensor made = context.allocate(DType::kFloat64, tensor.sizes());
    if (copies) copy_into(context, tensor, made);
    return made;
  };
  const Tensor maps = numbers(theta, true);
  const Tensor grid = numbers(out, false);
  const size_t dims = size.size() - 2;
  const int64_t points = out.element_count() / size[0] / static_cast<int64_t>(dims);
  double* to = grid.mutable_data<double>();
  WorkPoller poll;
  for (int64_t n = 0; n < size[0]; ++n) {
    const double* const map = maps.data<double>() + n * static_cast<int64_t>(dims * (dims + 1));
    for (int64_t point = 0; point < points; ++point) {
      poll();
      std::array<double, 3> x{};
      int64_t rest = point;
      for (size_t d = dims; d-- > 0;) {  // x is the last dimension
        x[dims - 1 - d] = place(rest % size[d + 2], size[d + 2], align_corners);
        rest = rest / size[d + 2];
      }
      for (size_t row = 0; row < dims; ++row) {
        double sum = map[row * (dims + 1) + dims];
        for (size_t d = 0; d < dims; ++d) sum += map[row * (dims + 1) + d] * x[d];
        *to++ = sum;
      }
    }
  }
  copy_into(context, grid, out);
}

Tensor sampler_parts(Context& c, const Tensor& input, const Tensor& grid, Size interpolation_mode,
                     Size padding_mode, bool align_corners) {
  return call(c, rank_of(input) == 4 ? "aten::grid_sampler_2d" : "aten::grid_sampler_3d", input, grid,
              interpolation_mode, padding_mode, align_corners);
}

}  // namespace

void define_grid_sample(Library& library) {
  library
      .define(
          "aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
          "align_corners) -> Tensor")
      .shape<sampler_shape<Size, 0>, sampler_shape<SymInt, 0>>()
      .kernel<run>()
      .composite<sampler_parts>();
  library
      .define(
          "aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
          "align_corners) -> Tensor")
      .shape<sampler_shape<Size, 2>, sampler_shape<SymInt, 2>>()
      .kernel<run>();
  library
      .define(
          "aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
          "align_corners) -> Tensor")
      .shape<sampler_shape<Size, 3>, sampler_shape<SymInt, 3>>()
      .kernel<run>();
  library.define("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor")
      .shape<affine_shape<Size>, affine_shape<SymInt>>()
      .kernel<affine_kernel>();
}

}  // namespace flambeau::ops
