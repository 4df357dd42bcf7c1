// Padding.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

// From the last dimension on, before and after: {left, right, top, bottom, ...}. `mode`: "constant",
// "reflect", "replicate" or "circular".
Tensor pad(Input x, const Sizes& pad, std::string_view mode = "constant", std::optional<double> value = {});

}  // namespace flambeau::nn
