// What the operators over regions of interest share: boxes, each with the image it lies in, as a stranger's
// program gives them. They are refused where they name no image, or no place.
#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {

// In the pixels of the feature map: the numbers of the program times its scale.
template <typename T>
struct Region {
  int64_t image = 0;
  T left = 0, top = 0, right = 0, bottom = 0;
};

// Beyond, pixels cannot be told apart, and counting them would not end. No image is as large.
constexpr double kFarthest = 0x1p50;

// torchvision computes with these on a CPU.
template <typename N>
void require_vision_dtype(std::string_view what, const Info<N>& info) {
  if (info.dtype != DType::kFloat16 && info.dtype != DType::kFloat32 && info.dtype != DType::kFloat64)
    fail_dtype(what, info.dtype);
}

// Regions [K, 5] of images [B, C, H, W].
template <typename N>
void require_regions(std::string_view what, const Info<N>& input, const Info<N>& rois, const N& height,
                     const N& width) {
  require(input.dim() == 4, "input must have the four dimensions of images: [B, C, H, W]");
  require(rois.dim() == 2 && rois.sizes[1] == N(5), "rois must have shape as Tensor[K, 5]");
  require(input.dtype == rois.dtype, "input and rois should have the same type");
  require(height >= N(0) && width >= N(0), "pooled sizes must be non-negative");
  require_vision_dtype(what, input);
}

// Row-major, in the type that is computed in.
inline Tensor packed_as(Context& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype && tensor.is_contiguous()) return tensor;
  const Tensor made = context.allocate(dtype, tensor.sizes());
  copy_into(context, tensor, made);
  return made;
}

[[noreturn]] void fail_region_image(size_t region, double image, int64_t images);
[[noreturn]] void fail_region_box(size_t region, const std::array<double, 4>& box);

template <typename T>
ScratchVector<Region<T>> read_regions(const Tensor& packed_rois, int64_t images, double scale) {
  const auto count = static_cast<size_t>(packed_rois.sizes()[0]);
  ScratchVector<Region<T>> regions(count);
  const T by = static_cast<T>(scale);
  const T* from = packed_rois.data<T>();
  WorkPoller poll;
  for (size_t i = 0; i < count; ++i, from += 5) {
    poll();
    // Compared before it becomes an integer: NaN, and what no integer holds, is no image either.
    if (!(from[0] > -1 && from[0] < static_cast<T>(images))) {
      fail_region_image(i, static_cast<double>(from[0]), images);
    }
    regions[i] = {static_cast<int64_t>(from[0]), from[1] * by, from[2] * by, from[3] * by, from[4] * by};
    const Region<T>& made = regions[i];
    const auto is_near = [](T x) { return std::abs(x) <= static_cast<T>(kFarthest); };
    if (!is_near(made.left) || !is_near(made.top) || !is_near(made.right) || !is_near(made.bottom)) {
      fail_region_box(i, {static_cast<double>(from[1]), static_cast<double>(from[2]),
                          static_cast<double>(from[3]), static_cast<double>(from[4])});
    }
  }
  return regions;
}

// Calls body(T{}) with the type that half, single or double precision is computed in.
template <typename Body>
void with_vision_type(DType dtype, Body&& body) {
  if (dtype == DType::kFloat64) {
    body(double{});
  } else {
    body(float{});
  }
}

// Calls body(result) with a row-major tensor of the type that is computed in, which becomes `out`.
template <typename Body>
void into(Context& context, const Tensor& out, Body&& body) {
  const DType dtype = compute_dtype(out.dtype());
  const bool is_there = out.dtype() == dtype && out.is_contiguous();
  const Tensor to = is_there ? out : context.allocate(dtype, out.sizes());
  body(to);
  if (!is_there) copy_into(context, to, out);
}

// The sizes of position-sensitive regions: each bin has channels of its own.
template <typename N>
N bin_channels(const Info<N>& input, const N& height, const N& width) {
  require(height > N(0) && width > N(0), "pooled sizes must be positive");
  require(modulo(input.sizes[1], height * width) == N(0),
          "input channels must be a multiple of pooling height * pooling width");
  return floor_div(input.sizes[1], height * width);
}

}  // namespace flambeau::ops
