// Bessel and Airy functions over contiguous arrays; y may be x. Computed in double, an element at a time, to
// about 1e-14 of the value (of its scale, where it oscillates). Poles and domain errors as in PyTorch.
#pragma once

#include <cstddef>

namespace flambeau::kernels::special {

#define FLAMBEAU_BESSEL(name)                    \
  void name(const float* x, float* y, size_t n); \
  void name(const double* x, double* y, size_t n);

FLAMBEAU_BESSEL(airy_ai)              // the Airy function that falls for positive x
FLAMBEAU_BESSEL(bessel_j0)            // Bessel functions of the first kind,
FLAMBEAU_BESSEL(bessel_j1)            // of order 1
FLAMBEAU_BESSEL(bessel_y0)            // of the second kind; NaN for negative x
FLAMBEAU_BESSEL(bessel_y1)            //
FLAMBEAU_BESSEL(bessel_k0)            // modified ones of the second kind; NaN for negative x
FLAMBEAU_BESSEL(bessel_k1)            //
FLAMBEAU_BESSEL(bessel_k0e)           // scaled by exp(x)
FLAMBEAU_BESSEL(bessel_k1e)           //
FLAMBEAU_BESSEL(spherical_bessel_j0)  // sin(x) / x
#undef FLAMBEAU_BESSEL

}  // namespace flambeau::kernels::special
