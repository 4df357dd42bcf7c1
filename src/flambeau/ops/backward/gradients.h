// What elementwise gradients are written with: bodies of floating types, and their parts as other operators.
#pragma once

#include <string_view>

#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {

template <typename F>
Body of_floats(const F& function, const Tensor& gradient, const Tensor& x, const Tensor& out) {
  if (is_integral(out.dtype())) fail_dtype(F::kName, out.dtype());
  return body_of(F::kName, function, out.dtype(), out, gradient, x);
}
template <typename F>
Body plain_gradient(const Tensor& gradient, const Tensor& x, const Tensor& out) {
  return of_floats(F{}, gradient, x, out);
}

inline Tensor scaled(Context& c, const Tensor& x, const Scalar& factor) { return parts::mul(c, x, factor); }
inline Tensor nothing_like(Context& c, const Tensor& gradient) { return parts::scalar(c, 0, gradient); }
inline Tensor one_minus(Context& c, const Tensor& x) { return call(c, "aten::rsub.Scalar", x, 1); }
inline Tensor conj_of(Context& c, const Tensor& x) {
  return is_complex(x.dtype()) ? call(c, "aten::conj_physical", x) : x;
}

}  // namespace flambeau::ops
