// Gradients of sampling where a grid says: of the image, and of the grid.
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/resample/grid_places.h"

namespace flambeau::ops {
namespace {

// A position and how much it changes with the coordinate.
template <typename T>
struct MovingPlace {
  T at;
  T slope;
};
template <typename T>
MovingPlace<T> place_of(const grid::Placement& placement, T coordinate, int64_t size) {
  T at = placement.unnormalized(coordinate, size);
  T slope = static_cast<T>(placement.align_corners ? size - 1 : size) / T(2);
  if (placement.padding == grid::kZeros) return {at, slope};
  if (placement.padding == grid::kReflection) {
    const int64_t low = placement.align_corners ? 0 : -1;
    const int64_t high = placement.align_corners ? 2 * (size - 1) : 2 * size - 1;
    if (low == high) return {T(0), T(0)};
    const T from = static_cast<T>(low) / T(2), span = static_cast<T>(high - low) / T(2);
    if (at < from) slope = -slope;
    if (truncated_index(std::floor(std::abs(at - from) / span)) % 2 != 0) slope = -slope;
    at = grid::reflected<T>(at, low, high);
  }
  const T most = static_cast<T>(size - 1);
  if (!(at > T(0))) return {T(0), T(0)};
  if (at >= most) return {most, T(0)};
  return {at, slope};
}

// One element of the image: its weight in the sample, and how that changes with each coordinate, x first.
template <typename T>
struct MovingTap {
  int64_t offset;  // -1: outside
  T weight;
  std::array<T, 3> slopes;
};

template <typename T>
class MovingSampler {
 public:
  MovingSampler(std::span<const int64_t> sizes, int64_t interpolation, const grid::Placement& placement)
      : sizes_(sizes), interpolation_(interpolation), placement_(placement) {}

  size_t taps(const T* coordinates, std::array<MovingTap<T>, 16>& taps) const {
    const size_t dims = sizes_.size();
    if (interpolation_ == grid::kBicubic) return bicubic(coordinates, taps);
    std::array<MovingPlace<T>, 3> places{};
    for (size_t d = 0; d < dims; ++d) places[d] = place_of(placement_, coordinates[dims - 1 - d], sizes_[d]);
    if (interpolation_ == grid::kNearest) {
      std::array<int64_t, 3> index{};
      for (size_t d = 0; d < dims; ++d)
        index[d] = grid::as_index(static_cast<double>(std::nearbyint(places[d].at)));
      taps[0] = {offset(index), T(1), {}};
      return 1;
    }
    for (size_t corner = 0; corner < size_t{1} << dims; ++corner) {
      std::array<int64_t, 3> index{};
      std::array<T, 3> weights{}, signs{};
      T weight = 1;
      for (size_t d = 0; d < dims; ++d) {
        const T low = std::floor(places[d].at);
        const bool is_high = (corner >> (dims - 1 - d) & 1) != 0;
        index[d] = grid::as_index(static_cast<double>(low));
        if (is_high && index[d] >= -1) ++index[d];
        weights[d] = is_high ? places[d].at - low : low + T(1) - places[d].at;
        signs[d] = is_high ? T(1) : T(-1);
        weight *= weights[d];
      }
      std::array<T, 3> slopes{};
      for (size_t d = 0; d < dims; ++d) {
        T slope = signs[d] * places[d].slope;
        for (size_t other = 0; other < dims; ++other) slope *= other == d ? T(1) : weights[other];
        slopes[dims - 1 - d] = slope;
      }
      taps[corner] = {offset(index), weight, slopes};
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
  static std::array<T, 4> cubic_slopes(T t) {
    constexpr T a = T(-0.75);
    const auto near = [&](T x) { return (T(3) * (a + T(2)) * x - T(2) * (a + T(3))) * x; };
    const auto far = [&](T x) { return (T(3) * a * x - T(10) * a) * x + T(8) * a; };
    return {far(t + T(1)), near(t), -near(T(1) - t), -far(T(2) - t)};
  }
  size_t bicubic(const T* coordinates, std::array<MovingTap<T>, 16>& taps) const {
    const T y = placement_.unnormalized(coordinates[1], sizes_[0]);
    const T x = placement_.unnormalized(coordinates[0], sizes_[1]);
    const auto slope = [&](int64_t size) {
      return static_cast<T>(placement_.align_corners ? size - 1 : size) / T(2);
    };
    const T row = std::floor(y), column = std::floor(x);
    const std::array<T, 4> rows = grid::cubic_weights<T>(y - row),
                           columns = grid::cubic_weights<T>(x - column);
    const std::array<T, 4> row_slopes = cubic_slopes(y - row), column_slopes = cubic_slopes(x - column);
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        const T at_y = placement_.padded(row + static_cast<T>(i) - T(1), sizes_[0]);
        const T at_x = placement_.padded(column + static_cast<T>(j) - T(1), sizes_[1]);
        taps[i * 4 + j] = {
            offset({grid::as_index(static_cast<double>(at_y)), grid::as_index(static_cast<double>(at_x)), 0}),
            rows[i] * columns[j],
            {rows[i] * column_slopes[j] * slope(sizes_[1]), row_slopes[i] * columns[j] * slope(sizes_[0]),
             T(0)}};
      }
    }
    return 16;
  }

  std::span<const int64_t> sizes_;
  int64_t interpolation_;
  grid::Placement placement_;
};

template <typename N, size_t kDims>
std::tuple<Info<N>, Info<N>> grid_gradient_shape(const Info<N>& gradient, const Info<N>& input,
                                                 const Info<N>& grid, Size interpolation, Size, bool,
                                                 const std::vector<bool>& mask) {
  const Info<N> sampled = grid::sampled_info(input, grid, kDims, interpolation);
  require_same_sizes("grid_sampler_backward", gradient.sizes, sampled.sizes);
  // That of the grid is given in any case.
  return {asked(mask, 0, contiguous<N>(input.dtype, input.sizes, input.device)),
          contiguous<N>(grid.dtype, grid.sizes, grid.device)};
}

template <size_t kDims>
std::tuple<Value, Value> grid_gradient(Context& context, const Tensor& gradient, const Tensor& input,
                                       const Tensor& grid, Size interpolation, Size padding,
                                       bool align_corners, const std::vector<bool>& mask) {
  require(mask.size() == 2, "output_mask should have two entries");
  const auto [input_info, grid_info] = grid_gradient_shape<Size, kDims>(
      info_of(gradient), info_of(input), info_of(grid), interpolation, padding, align_corners, mask);
  Tensor of_input, of_grid = context.allocate(grid_info);
  if (mask[0]) of_input = context.allocate(input_info);
  if (input.is_meta()) return {value_of(of_input), value_of(of_grid)};
  with_floats("grid_sampler_backward", input.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide), x = packed_as(context, input, wide);
    const Tensor places = packed_as(context, grid, wide);
    PackedOutput moves(context, of_grid, wide);
    T* const move = moves.zeros<T>();
    std::optional<PackedOutput> made;
    if (mask[0]) made.emplace(context, of_input, wide);
    T* const into = made ? made->template zeros<T>() : nullptr;
    const std::span<const int64_t> sizes = x.sizes().span().subspan(2);
    const MovingSampler<T> sampler(sizes, interpolation, grid::Placement{padding, align_corners});
    const int64_t batch = x.sizes()[0], channels = x.sizes()[1];
    const int64_t pixels = product_of(x.sizes(), 2, x.dim()), samples = product_of(g.sizes(), 2, g.dim());
    constexpr auto dims = static_cast<int64_t>(kDims);
    for_each_part(context, batch, samples * channels * 16, [&](int64_t image) {
      std::array<MovingTap<T>, 16> taps{};
      WorkPoller poll;
      for (int64_t i = 0; i < samples; ++i) {
        poll(static_cast<size_t>(channels * 8 + 1));
        const size_t count = sampler.taps(places.data<T>() + (image * samples + i) * dims, taps);
        T* const change = move + (image * samples + i) * dims;
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t plane = (image * channels + c) * pixels;
          const T share = g.data<T>()[(image * channels + c) * samples + i];
          for (size_t k = 0; k < count; ++k) {
            if (taps[k].offset < 0) continue;
            if (into != nullptr) into[plane + taps[k].offset] += share * taps[k].weight;
            const T value = x.data<T>()[plane + taps[k].offset] * share;
            for (int64_t d = 0; d < dims; ++d) change[d] += value * taps[k].slopes[static_cast<size_t>(d)];
          }
        }
      }
    });
    if (made) made->finish();
    moves.finish();
  });
  return {value_of(of_input), value_of(of_grid)};
}

}  // namespace

void define_grid_backward(Library& library) {
  library
      .define(
          "aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int "
          "interpolation_mode, int "
          "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)")
      .shape<grid_gradient_shape<Size, 2>, grid_gradient_shape<SymInt, 2>>()
      .function<grid_gradient<2>>();
  library
      .define(
          "aten::grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int "
          "interpolation_mode, int "
          "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)")
      .shape<grid_gradient_shape<Size, 3>, grid_gradient_shape<SymInt, 3>>()
      .function<grid_gradient<3>>();
}

}  // namespace flambeau::ops
