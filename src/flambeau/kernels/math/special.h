// Special functions over contiguous arrays; y may be x. Computed in double, an element at a time: right to
// the last digit of a float, and to about 1e-14 of the value for double. Poles and domain errors as in
// PyTorch.
#pragma once

#include <cstddef>

namespace flambeau::kernels::special {

#define FLAMBEAU_SPECIAL(name)                   \
  void name(const float* x, float* y, size_t n); \
  void name(const double* x, double* y, size_t n);

FLAMBEAU_SPECIAL(lgamma)      // log |gamma(x)|
FLAMBEAU_SPECIAL(digamma)     // its derivative; NaN at the negative integers, -inf at 0 and +inf at -0
FLAMBEAU_SPECIAL(trigamma)    // and the next
FLAMBEAU_SPECIAL(erfinv)      // the inverse of erf
FLAMBEAU_SPECIAL(ndtri)       // the quantile of the standard normal distribution
FLAMBEAU_SPECIAL(ndtr)        // its cumulative distribution
FLAMBEAU_SPECIAL(bessel_i0)   // modified Bessel functions of the first kind,
FLAMBEAU_SPECIAL(bessel_i0e)  // scaled by exp(-|x|),
FLAMBEAU_SPECIAL(bessel_i1)   // of order 1
FLAMBEAU_SPECIAL(bessel_i1e)
FLAMBEAU_SPECIAL(sinc)  // sin(pi x) / (pi x)
FLAMBEAU_SPECIAL(entr)  // -x log(x)
#undef FLAMBEAU_SPECIAL

}  // namespace flambeau::kernels::special
