// The elementary functions of elementary.def by one name for float and double. For the x_isa.cpp files alone:
// everything is in an anonymous namespace, because each of them is compiled for several instruction sets.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace flambeau::kernels {
namespace {

#define FLAMBEAU_INLINE [[gnu::always_inline]] inline
#define FLAMBEAU_CODE(...) __VA_ARGS__
// clang-format off: the first is what the second is made of
#include "flambeau/kernels/math/elementary.def"
#include "flambeau/kernels/math/composed.def"
// clang-format on
#undef FLAMBEAU_CODE

#define FLAMBEAU_OVERLOADED(name)                             \
  FLAMBEAU_INLINE float name(float x) { return name##_f(x); } \
  FLAMBEAU_INLINE double name(double x) { return name##_d(x); }
FLAMBEAU_OVERLOADED(magnitude)
FLAMBEAU_OVERLOADED(exp_of)
FLAMBEAU_OVERLOADED(expm1_of)
FLAMBEAU_OVERLOADED(log_of)
FLAMBEAU_OVERLOADED(log1p_of)
FLAMBEAU_OVERLOADED(tanh_of)
FLAMBEAU_OVERLOADED(erf_of)
#undef FLAMBEAU_OVERLOADED
FLAMBEAU_INLINE int32_t bits_of(float x) { return bits_of_f(x); }
FLAMBEAU_INLINE int64_t bits_of(double x) { return bits_of_d(x); }
FLAMBEAU_INLINE float with_sign(float x, float sign) { return with_sign_f(x, sign); }
FLAMBEAU_INLINE double with_sign(double x, double sign) { return with_sign_d(x, sign); }

}  // namespace
}  // namespace flambeau::kernels
