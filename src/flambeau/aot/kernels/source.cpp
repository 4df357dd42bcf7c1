#include "flambeau/aot/kernels/source.h"

#include <fmt/format.h>

#include "flambeau/kernels/math/elementary_code.h"

namespace flambeau::aot {
namespace {

constexpr std::string_view kTypes = R"c(
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
#define bool _Bool
#define FLAMBEAU_INLINE static inline __attribute__((always_inline, unused))
#define INLINE FLAMBEAU_INLINE
#if defined(__clang__)
#define LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LOOP _Pragma("GCC ivdep")
#endif
)c";

// What the bodies call beside the elementary functions. Below SSE4.1 the compiler would call the C library to
// round, which is not there: adding a number without fractions rounds as well.
constexpr std::string_view kHelpers = R"c(
#if defined(__x86_64__) && !defined(__SSE4_1__)
INLINE float rint_f(float x) {
  const float a = magnitude_f(x);
  return a < 0x1p23F ? with_sign_f((a + 0x1p23F) - 0x1p23F, x) : x;
}
INLINE double rint_d(double x) {
  const double a = magnitude_d(x);
  return a < 0x1p52 ? with_sign_d((a + 0x1p52) - 0x1p52, x) : x;
}
INLINE float floor_f(float x) { const float r = rint_f(x); return with_sign_f(magnitude_f(r > x ? r - 1.0F : r), x); }
INLINE double floor_d(double x) { const double r = rint_d(x); return with_sign_d(magnitude_d(r > x ? r - 1.0 : r), x); }
INLINE float ceil_f(float x) { return -floor_f(-x); }
INLINE double ceil_d(double x) { return -floor_d(-x); }
INLINE float trunc_f(float x) { return with_sign_f(magnitude_f(floor_f(magnitude_f(x))), x); }
INLINE double trunc_d(double x) { return with_sign_d(magnitude_d(floor_d(magnitude_d(x))), x); }
#else
INLINE float rint_f(float x) { return __builtin_rintf(x); }
INLINE double rint_d(double x) { return __builtin_rint(x); }
INLINE float floor_f(float x) { return __builtin_floorf(x); }
INLINE double floor_d(double x) { return __builtin_floor(x); }
INLINE float ceil_f(float x) { return __builtin_ceilf(x); }
INLINE double ceil_d(double x) { return __builtin_ceil(x); }
INLINE float trunc_f(float x) { return __builtin_truncf(x); }
INLINE double trunc_d(double x) { return __builtin_trunc(x); }
#endif
INLINE int64_t absolute_i(int64_t x) { return x < 0 ? (int64_t)-(uint64_t)x : x; }
#define BOTH(f, x) _Generic((x), float : f##_f, double : f##_d)(x)
#define rint_of(x) BOTH(rint, x)
#define floor_of(x) BOTH(floor, x)
#define ceil_of(x) BOTH(ceil, x)
#define trunc_of(x) BOTH(trunc, x)
#define absolute(x) _Generic((x), float : magnitude_f, double : magnitude_d, default : absolute_i)(x)
#define exp_of(x) BOTH(exp_of, x)
#define exp2_of(x) exp2_of_f(x)
#define expm1_of(x) BOTH(expm1_of, x)
#define log_of(x) BOTH(log_of, x)
#define log2_of(x) log2_of_f(x)
#define log1p_of(x) BOTH(log1p_of, x)
#define tanh_of(x) BOTH(tanh_of, x)
#define erf_of(x) BOTH(erf_of, x)
#define sqrt_of(x) BOTH(sqrt_of, x)
#define rsqrt_of(x) BOTH(rsqrt_of, x)
#define sigmoid_of(x) BOTH(sigmoid_of, x)
#define log_sigmoid_of(x) BOTH(log_sigmoid_of, x)
#define silu_of(x) BOTH(silu_of, x)
#define gelu_of(x) BOTH(gelu_of, x)
#define gelu_tanh_of(x) BOTH(gelu_tanh_of, x)
#define mish_of(x) BOTH(mish_of, x)
INLINE float widened(uint16_t x) { return float_of((int32_t)((uint32_t)x << 16)); }
INLINE uint16_t narrowed(float x) {
  const uint32_t raw = (uint32_t)bits_of_f(x);
  const uint32_t rounded = (raw + 0x7fffU + ((raw >> 16) & 1U)) >> 16;
  return (uint16_t)((int32_t)(raw & 0x7fffffffU) > 0x7f800000 ? 0x7fc0U : rounded);
}
/* No compiler knows that the bits stay as they are, and so what follows must be computed as it is written: a product and
   a sum do not become one operation, and nothing is computed ahead for an argument that is 0 or 1. */
#if defined(__FMA__) || defined(__aarch64__)
INLINE float apart_f(float x, int64_t zero) { return float_of(bits_of_f(x) ^ (int32_t)zero); }
INLINE double apart_d(double x, int64_t zero) { return double_of(bits_of_d(x) ^ zero); }
#else
INLINE float apart_f(float x, int64_t zero) { return x; }
INLINE double apart_d(double x, int64_t zero) { return x; }
#endif
#define BLOCK 512
#define JOINED_(a, b, c) a##b##_##c
#define JOINED(a, b, c) JOINED_(a, b, c)
#define KERNEL __attribute__((visibility("default"))) JOINED(kernel_, NUMBER, LEVEL)
#define PART(n) JOINED(part_, NUMBER, n)
)c";

}  // namespace

std::string kernel_source(std::span<const std::string> codes) {
  std::string source(kTypes);
  source += kernels::elementary_code();
  source += kHelpers;
  for (size_t i = 0; i < codes.size(); ++i)
    source += fmt::format("#undef NUMBER\n#define NUMBER {}\n{}", i, codes[i]);
  return source;
}

}  // namespace flambeau::aot
