// torchvision's roi_pool and ps_roi_pool: the greatest or the mean of the pixels of a region's bins.
#include <algorithm>
#include <limits>

#include "flambeau/ops/vision/regions.h"

namespace flambeau::ops {
namespace {

template <typename N>
std::tuple<Info<N>, Info<N>> pool_shape(const Info<N>& input, const Info<N>& rois, double, N pooled_height,
                                        N pooled_width) {
  require_regions("roi_pool_forward_kernel", input, rois, pooled_height, pooled_width);
  const ShortList<N> sizes{rois.sizes[0], input.sizes[1], pooled_height, pooled_width};
  return {contiguous<N>(input.dtype, sizes, input.device), contiguous<N>(DType::kInt32, sizes, input.device)};
}
template <typename N>
std::tuple<Info<N>, Info<N>> bin_pool_shape(const Info<N>& input, const Info<N>& rois, double,
                                            N pooled_height, N pooled_width) {
  require_regions("ps_roi_pool_forward_kernel", input, rois, pooled_height, pooled_width);
  const ShortList<N> sizes{rois.sizes[0], bin_channels(input, pooled_height, pooled_width), pooled_height,
                           pooled_width};
  return {contiguous<N>(input.dtype, sizes, input.device), contiguous<N>(DType::kInt32, sizes, input.device)};
}

struct Pixels {
  int64_t begin = 0;
  int64_t end = 0;
};

// A region along one dimension, in whole pixels.
template <typename T>
struct Extent {
  double start;
  T bin;

  // `more` is how many pixels there are beyond the difference of the ends.
  Extent(T from, T to, int64_t count, int more)
      : start(std::round(from)),
        bin(static_cast<T>(std::max(std::round(static_cast<double>(to)) - start + more, 1.0)) /
            static_cast<T>(count)) {}
  // Clamped while they may be larger than integers are.
  Pixels pixels(int64_t index, int64_t most) const {
    const double begin = std::floor(static_cast<T>(index) * bin),
                 end = std::ceil(static_cast<T>(index + 1) * bin);
    const auto inside = [&](double x) {
      return static_cast<int64_t>(std::clamp(x + start, 0.0, static_cast<double>(most)));
    };
    return {inside(begin), inside(end)};
  }
};

// Calls body(T{}, images, regions, result) in the type that is computed in.
template <typename Body>
void over_regions(Context& context, const Tensor& input, const Tensor& rois, double scale, const Tensor& out,
                  Body&& body) {
  const DType dtype = compute_dtype(out.dtype());
  const Tensor images = packed_as(context, input, dtype);
  const Tensor boxes = packed_as(context, rois, dtype);
  into(context, out, [&](const Tensor& result) {
    with_vision_type(dtype, [&]<typename T>(T) {
      const ScratchVector<Region<T>> regions = read_regions<T>(boxes, images.sizes()[0], scale);
      body(T{}, images, regions, result);
    });
  });
}

void pool_kernel(Context& context, const Tensor& input, const Tensor& rois, double spatial_scale,
                 Size pooled_height, Size pooled_width, Tensor& out, Tensor& argmax) {
  over_regions(
      context, input, rois, spatial_scale, out,
      [&]<typename T>(T, const Tensor& images, const auto& regions, const Tensor& result) {
        const int64_t channels = images.sizes()[1], height = images.sizes()[2], width = images.sizes()[3];
        const int64_t bins = pooled_height * pooled_width;
        require(height == 0 || width <= std::numeric_limits<int32_t>::max() / height,
                "roi_pool: an image has more pixels than its int32 indices can count");
        const T* const from = images.template data<T>();
        T* const to = result.template mutable_data<T>();
        auto* const places = argmax.mutable_data<int32_t>();
        const T lowest = out.dtype() == DType::kFloat16 ? T(-65504) : std::numeric_limits<T>::lowest();
        context.pool().for_each_range(
            regions.size() * static_cast<size_t>(channels),
            static_cast<size_t>(std::max<int64_t>(2048 / (bins + 1), 1)), [&](size_t begin, size_t end) {
              WorkPoller poll;
              for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end); ++at) {
                const Region<T>& region = regions[static_cast<size_t>(at / channels)];
                const Extent<T> rows(region.top, region.bottom, pooled_height, 1);
                const Extent<T> columns(region.left, region.right, pooled_width, 1);
                const T* const plane = from + (region.image * channels + at % channels) * height * width;
                for (int64_t bin = 0; bin < bins; ++bin) {
                  const Pixels y = rows.pixels(bin / pooled_width, height);
                  const Pixels x = columns.pixels(bin % pooled_width, width);
                  poll(1);
                  T most = y.begin < y.end && x.begin < x.end ? lowest : T(0);
                  int64_t place = -1;
                  for (int64_t r = y.begin; r < y.end; ++r) {
                    poll(static_cast<size_t>(std::max<int64_t>(x.end - x.begin, 0)));
                    for (int64_t c = x.begin; c < x.end; ++c) {
                      if (!(plane[r * width + c] > most)) continue;
                      most = plane[r * width + c];
                      place = r * width + c;
                    }
                  }
                  to[at * bins + bin] = most;
                  places[at * bins + bin] = static_cast<int32_t>(place);
                }
              }
            });
      });
}

void bin_pool_kernel(Context& context, const Tensor& input, const Tensor& rois, double spatial_scale,
                     Size pooled_height, Size pooled_width, Tensor& out, Tensor& channel_mapping) {
  over_regions(
      context, input, rois, spatial_scale, out,
      [&]<typename T>(T, const Tensor& images, const auto& regions, const Tensor& result) {
        const int64_t channels = images.sizes()[1], height = images.sizes()[2], width = images.sizes()[3];
        const int64_t bins = pooled_height * pooled_width;
        const T* const from = images.template data<T>();
        T* const to = result.template mutable_data<T>();
        auto* const mapping = channel_mapping.mutable_data<int32_t>();
        context.pool().for_each_range(regions.size(), 1, [&](size_t begin, size_t end) {
          WorkPoller poll;
          for (size_t k = begin; k < end; ++k) {
            const Region<T>& region = regions[k];
            const Extent<T> rows(region.top, region.bottom, pooled_height, 0);
            const Extent<T> columns(region.left, region.right, pooled_width, 0);
            for (int64_t channel = 0; channel < channels; ++channel) {
              // torchvision leaves the last row and the last column of the image out.
              const Pixels y = rows.pixels(channel % bins / pooled_width, std::max<int64_t>(height - 1, 0));
              const Pixels x = columns.pixels(channel % pooled_width, std::max<int64_t>(width - 1, 0));
              const T* const plane = from + (region.image * channels + channel) * height * width;
              poll(1);
              T sum = 0;
              for (int64_t r = y.begin; r < y.end; ++r) {
                poll(static_cast<size_t>(std::max<int64_t>(x.end - x.begin, 0)));
                for (int64_t c = x.begin; c < x.end; ++c) sum += plane[r * width + c];
              }
              const bool is_empty = y.begin >= y.end || x.begin >= x.end;
              const int64_t at = static_cast<int64_t>(k) * channels + channel;
              to[at] = is_empty ? T(0) : sum / static_cast<T>((y.end - y.begin) * (x.end - x.begin));
              mapping[at] = static_cast<int32_t>(channel);
            }
          }
        });
      });
}

}  // namespace

void define_roi_pool(Library& library) {
  library
      .define(
          "torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
          "SymInt "
          "pooled_width) -> (Tensor, Tensor)")
      .shape<pool_shape<Size>, pool_shape<SymInt>>()
      .kernel<pool_kernel>();
  library
      .define(
          "torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
          "SymInt pooled_width) -> (Tensor, Tensor)")
      .shape<bin_pool_shape<Size>, bin_pool_shape<SymInt>>()
      .kernel<bin_pool_kernel>();
}

}  // namespace flambeau::ops
