// Resizing images in one to three dimensions, one dimension after the other.
#pragma once

#include <optional>
#include <span>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/resample/taps.h"

namespace flambeau::ops {

// `scales` has one entry for each dimension of space. `out` is row-major or channels last.
void resize(Context& context, Resampling kind, const Tensor& input, bool align_corners,
            std::span<const std::optional<double>> scales, const Tensor& out);

}  // namespace flambeau::ops
