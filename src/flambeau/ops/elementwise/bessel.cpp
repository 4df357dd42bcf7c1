// Bessel and Airy functions.
#include "flambeau/kernels/math/bessel.h"

#include "flambeau/kernels/math/special.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

#define FLAMBEAU_BESSEL(Name, name, kernel)                                                       \
  struct Name {                                                                                   \
    static constexpr std::string_view kName = #name;                                              \
    static constexpr int kCost = 60;                                                              \
    static void rows(const float* x, float* y, size_t n) { kernels::special::kernel(x, y, n); }   \
    static void rows(const double* x, double* y, size_t n) { kernels::special::kernel(x, y, n); } \
  };                                                                                              \
  void define_##name(Library& library) {                                                          \
    elementwise<FloatType, unary<Name>>(library, "aten::special_" #name BESSEL_ARGUMENTS);        \
  }

#define BESSEL_ARGUMENTS "(Tensor x) -> Tensor"
FLAMBEAU_BESSEL(AiryAi, airy_ai, airy_ai)
FLAMBEAU_BESSEL(ScaledK0, scaled_modified_bessel_k0, bessel_k0e)
FLAMBEAU_BESSEL(ScaledK1, scaled_modified_bessel_k1, bessel_k1e)
FLAMBEAU_BESSEL(SphericalJ0, spherical_bessel_j0, spherical_bessel_j0)
#undef BESSEL_ARGUMENTS
#define BESSEL_ARGUMENTS "(Tensor self) -> Tensor"
FLAMBEAU_BESSEL(FirstKind0, bessel_j0, bessel_j0)
FLAMBEAU_BESSEL(FirstKind1, bessel_j1, bessel_j1)
FLAMBEAU_BESSEL(SecondKind0, bessel_y0, bessel_y0)
FLAMBEAU_BESSEL(SecondKind1, bessel_y1, bessel_y1)
FLAMBEAU_BESSEL(ModifiedI0, modified_bessel_i0, bessel_i0)
FLAMBEAU_BESSEL(ModifiedI1, modified_bessel_i1, bessel_i1)
FLAMBEAU_BESSEL(ModifiedK0, modified_bessel_k0, bessel_k0)
FLAMBEAU_BESSEL(ModifiedK1, modified_bessel_k1, bessel_k1)
#undef BESSEL_ARGUMENTS
#undef FLAMBEAU_BESSEL

}  // namespace

void define_bessel(Library& library) {
  define_airy_ai(library);
  define_bessel_j0(library);
  define_bessel_j1(library);
  define_bessel_y0(library);
  define_bessel_y1(library);
  define_modified_bessel_i0(library);
  define_modified_bessel_i1(library);
  define_modified_bessel_k0(library);
  define_modified_bessel_k1(library);
  define_scaled_modified_bessel_k0(library);
  define_scaled_modified_bessel_k1(library);
  define_spherical_bessel_j0(library);
}

}  // namespace flambeau::ops
