#include "flambeau/nn/functional/padding.h"

namespace flambeau::nn {

Tensor pad(Input x, const Sizes& pad, std::string_view mode, std::optional<double> value) {
  return call(x, "aten::pad", {x.tensor, ints_value(pad), Value(mode), value});
}

}  // namespace flambeau::nn
