#include "flambeau/ops/vision/regions.h"

#include <fmt/format.h>

namespace flambeau::ops {

void fail_region_image(size_t region, double image, int64_t images) {
  fail_argument(fmt::format("region {} lies in image {}, but the input has {}", region, image, images));
}

void fail_region_box(size_t region, const std::array<double, 4>& box) {
  fail_argument(fmt::format("region {} has the box ({}, {}, {}, {}): expected numbers below 2^50", region,
                            box[0], box[1], box[2], box[3]));
}

}  // namespace flambeau::ops
