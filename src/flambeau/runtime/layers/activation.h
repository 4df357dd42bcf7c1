// Which steps can be done by a layer as it writes its results.
#pragma once

#include <optional>

#include "flambeau/kernels/onednn/onednn.h"
#include "flambeau/runtime/plan.h"

namespace flambeau::runtime {

// The function of one float32 argument that a step computes, where a layer can take it over; the argument is
// the step's first one.
std::optional<kernels::onednn::PostOp> as_activation(const Step& step);

}  // namespace flambeau::runtime
