// Images made larger or smaller.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

struct Interpolation {
  std::optional<Sizes> size = {};  // one number for all dimensions, or one each
  std::optional<std::vector<double>> scale_factor = {};
  std::string mode = "nearest";
  std::optional<bool> align_corners = {};
  bool recompute_scale_factor = false;
  bool antialias = false;
};

// To a size, or by factors. `mode`: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear"
// or "area".
Tensor interpolate(Input x, const Interpolation& how);

}  // namespace flambeau::nn
