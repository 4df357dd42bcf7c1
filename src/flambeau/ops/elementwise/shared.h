// Functions of numbers that the operators of several files are made of.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"

namespace flambeau::ops {

struct Max {
  static constexpr std::string_view kName = "maximum";
  static constexpr Hot kHot = Hot::kMax;
  uint64_t operator()(uint64_t a, uint64_t b) const { return a > b ? a : b; }
};
struct Min {
  static constexpr std::string_view kName = "minimum";
  static constexpr Hot kHot = Hot::kMin;
  uint64_t operator()(uint64_t a, uint64_t b) const { return a < b ? a : b; }
};
template <typename F>
Body pick(const Tensor& self, const Tensor& other, const Tensor& out) {
  if (is_complex(out.dtype())) {
    throw Error(ErrorCode::kUnsupported, std::string(F::kName) + " not implemented for complex tensors.");
  }
  return binary<F>(self, other, out);
}

struct Div {
  static constexpr std::string_view kName = "div";
  static constexpr Hot kHot = Hot::kDiv;
  template <FloatingNumber T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

}  // namespace flambeau::ops
