// What the families of Fourier transforms share: the three transforms all others are made of, as calls.
#pragma once

#include <string_view>

#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops::fourier {

// How a transform is scaled, as PyTorch numbers it.
enum Norm : uint8_t { kNone = 0, kByRoot = 1, kByCount = 2 };

inline Tensor real_to_complex(Context& c, const Tensor& self, const Dims& dims, int64_t norm, bool onesided) {
  return call(c, "aten::_fft_r2c", self, dims, norm, onesided);
}
inline Tensor complex_to_complex(Context& c, const Tensor& self, const Dims& dims, int64_t norm,
                                 bool is_forward) {
  return call(c, "aten::_fft_c2c", self, dims, norm, is_forward);
}
inline Tensor complex_to_real(Context& c, const Tensor& self, const Dims& dims, int64_t norm,
                              const SymInt& size) {
  return call(c, "aten::_fft_c2r", self, dims, norm, size);
}

}  // namespace flambeau::ops::fourier
