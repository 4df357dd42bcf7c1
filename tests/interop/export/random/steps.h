// What the makers of steps share.
#pragma once

#include <optional>
#include <string>

#include "builder.h"
#include "flambeau/nn.h"

namespace flambeau::random_modules {

// Of a function of the inputs alone that gives one tensor.
template <typename Function>
Run one(Function function) {
  return [function](Frame&, const TensorList& in) { return TensorList{function(in)}; };
}

}  // namespace flambeau::random_modules
