#include "flambeau/nn/extent.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::nn {

void fail_extent(size_t wanted, size_t given) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a layer over {} dimensions is given {} numbers for them", wanted, given),
              fmt::format("give one number for all, or {}", wanted));
}

}  // namespace flambeau::nn
