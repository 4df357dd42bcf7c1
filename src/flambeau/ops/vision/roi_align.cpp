// torchvision's roi_align and ps_roi_align: regions of images, sampled between the pixels.
#include <algorithm>

#include "flambeau/ops/vision/region_samples.h"
#include "flambeau/ops/vision/regions.h"

namespace flambeau::ops {
namespace {

constexpr std::string_view kAlign = "roi_align_forward_kernel";
constexpr std::string_view kBinAlign = "ps_roi_align_forward_kernel";

template <typename N>
Info<N> align_shape(const Info<N>& input, const Info<N>& rois, double, N pooled_height, N pooled_width, Size,
                    bool) {
  require_regions(kAlign, input, rois, pooled_height, pooled_width);
  return contiguous<N>(input.dtype, {rois.sizes[0], input.sizes[1], pooled_height, pooled_width},
                       input.device);
}

template <typename T>
void set_grid(RegionGrid<T>& grid, const Region<T>& region, const Tensor& images, int64_t height,
              int64_t width, int64_t ratio, T shift, T least) {
  grid.rows.set(region.top - shift, std::max(region.bottom - region.top, least), height, ratio,
                images.sizes()[2]);
  grid.columns.set(region.left - shift, std::max(region.right - region.left, least), width, ratio,
                   images.sizes()[3]);
}

// One channel of one region: for each row of bins its pixels' rows become one, and that is taken by columns.
template <typename T>
void align_channel(const RegionGrid<T>& grid, const T* plane, int64_t height, int64_t width,
                   int64_t image_width, ScratchVector<T>& line, T* to) {
  int64_t begin = image_width, end = 0;
  for (int64_t j = 0; j < width; ++j) {
    if (grid.columns.count(j) == 0) continue;
    begin = std::min(begin, grid.columns.first(j));
    end = std::max(end, grid.columns.first(j) + grid.columns.count(j));
  }
  for (int64_t i = 0; i < height; ++i) {
    std::fill(line.begin(), line.end(), T(0));
    for (int64_t r = 0; r < grid.rows.count(i); ++r) {
      const T weight = grid.rows.weights(i)[r];
      const T* const row = plane + (grid.rows.first(i) + r) * image_width;
      for (int64_t x = begin; x < end; ++x) line[static_cast<size_t>(x)] += weight * row[x];
    }
    for (int64_t j = 0; j < width; ++j) {
      const T* const at = line.data() + grid.columns.first(j);
      T sum = 0;
      for (int64_t c = 0; c < grid.columns.count(j); ++c) sum += grid.columns.weights(j)[c] * at[c];
      *to++ = sum;
    }
  }
}

void align_kernel(Context& context, const Tensor& input, const Tensor& rois, double spatial_scale,
                  Size pooled_height, Size pooled_width, Size sampling_ratio, bool aligned, Tensor& out) {
  const DType dtype = compute_dtype(out.dtype());
  const Tensor images = packed_as(context, input, dtype);
  const Tensor boxes = packed_as(context, rois, dtype);
  into(context, out, [&](const Tensor& result) {
    with_vision_type(dtype, [&]<typename T>(T) {
      const ScratchVector<Region<T>> regions = read_regions<T>(boxes, images.sizes()[0], spatial_scale);
      const int64_t channels = images.sizes()[1];
      const int64_t image_width = images.sizes()[3];
      const int64_t pixels = images.sizes()[2] * image_width;
      const int64_t bins = pooled_height * pooled_width;
      if (pixels == 0) return fill(context, result, 0);
      const T* const from = images.data<T>();
      T* const to = result.mutable_data<T>();
      // A piece has some channels of the same region, which share where they are sampled.
      context.pool().for_each_range(
          static_cast<size_t>(out.sizes()[0] * channels),
          static_cast<size_t>(std::clamp<int64_t>(16384 / (bins * 8), 1, channels)),
          [&](size_t begin, size_t end) {
            RegionGrid<T> grid;
            ScratchVector<T> line(static_cast<size_t>(image_width));
            int64_t last = -1;
            WorkPoller poll;
            for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
              poll(static_cast<size_t>(pixels));
              const Region<T>& region = regions[static_cast<size_t>(i / channels)];
              if (last != i / channels) {
                set_grid<T>(grid, region, images, pooled_height, pooled_width, sampling_ratio,
                            aligned ? T(0.5) : T(0), aligned ? std::numeric_limits<T>::lowest() : T(1));
                last = i / channels;
              }
              align_channel(grid, from + (region.image * channels + i % channels) * pixels, pooled_height,
                            pooled_width, image_width, line, to + i * bins);
            }
          });
    });
  });
}

// ---- position-sensitive: each bin looks at a channel of its own

template <typename N>
std::tuple<Info<N>, Info<N>> bin_align_shape(const Info<N>& input, const Info<N>& rois, double,
                                             N pooled_height, N pooled_width, Size) {
  require_regions(kBinAlign, input, rois, pooled_height, pooled_width);
  const ShortList<N> sizes{rois.sizes[0], bin_channels(input, pooled_height, pooled_width), pooled_height,
                           pooled_width};
  return {contiguous<N>(input.dtype, sizes, input.device), contiguous<N>(DType::kInt32, sizes, input.device)};
}

void bin_align_kernel(Context& context, const Tensor& input, const Tensor& rois, double spatial_scale,
                      Size pooled_height, Size pooled_width, Size sampling_ratio, Tensor& out,
                      Tensor& channel_mapping) {
  const DType dtype = compute_dtype(out.dtype());
  const Tensor images = packed_as(context, input, dtype);
  const Tensor boxes = packed_as(context, rois, dtype);
  const int64_t bins = pooled_height * pooled_width;
  const int64_t channels = images.sizes()[1];
  const int64_t image_width = images.sizes()[3];
  const int64_t pixels = images.sizes()[2] * image_width;
  auto* const mapping = channel_mapping.mutable_data<int32_t>();
  into(context, out, [&](const Tensor& result) {
    with_vision_type(dtype, [&]<typename T>(T) {
      const ScratchVector<Region<T>> regions = read_regions<T>(boxes, images.sizes()[0], spatial_scale);
      const T* const from = images.data<T>();
      T* const to = result.mutable_data<T>();
      context.pool().for_each_range(regions.size(), 1, [&](size_t begin, size_t end) {
        RegionGrid<T> grid;
        WorkPoller poll;
        for (size_t k = begin; k < end; ++k) {
          set_grid<T>(grid, regions[k], images, pooled_height, pooled_width, sampling_ratio, T(0.5),
                      std::numeric_limits<T>::lowest());
          // A bin without places has no mean: the quotient says so.
          const T nothing = static_cast<T>(0 / (grid.rows.places() * grid.columns.places()));
          for (int64_t channel = 0; channel < channels; ++channel) {
            const int64_t i = channel % bins / pooled_width, j = channel % pooled_width;
            const T* const plane = from + (regions[k].image * channels + channel) * pixels;
            T sum = nothing;
            for (int64_t r = 0; r < grid.rows.count(i); ++r) {
              poll(static_cast<size_t>(grid.columns.count(j)));
              const T* const row = plane + (grid.rows.first(i) + r) * image_width + grid.columns.first(j);
              T across = 0;
              for (int64_t c = 0; c < grid.columns.count(j); ++c)
                across += grid.columns.weights(j)[c] * row[c];
              sum += grid.rows.weights(i)[r] * across;
            }
            const int64_t at = static_cast<int64_t>(k) * channels + channel;
            to[at] = sum;
            mapping[at] = static_cast<int32_t>(channel);
          }
        }
      });
    });
  });
}

}  // namespace

void define_roi_align(Library& library) {
  library
      .define(
          "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
          "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor")
      .shape<align_shape<Size>, align_shape<SymInt>>()
      .kernel<align_kernel>();
  library
      .define(
          "torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
          "SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)")
      .shape<bin_align_shape<Size>, bin_align_shape<SymInt>>()
      .kernel<bin_align_kernel>();
}

}  // namespace flambeau::ops
