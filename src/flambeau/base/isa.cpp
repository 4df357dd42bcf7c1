#include "flambeau/base/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace flambeau {
namespace {

Isa detect() {
  Isa best = Isa::kBase;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    best = Isa::kAvx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      best = Isa::kAvx512;
    }
  }
#endif
  const char* const wish = std::getenv("FLAMBEAU_ISA");
  if (wish == nullptr) return best;
  const std::string_view name = wish;
  if (name == "base") return Isa::kBase;
  if (name == "avx2") return std::min(best, Isa::kAvx2);
  return best;
}

}  // namespace

Isa current_isa() {
  static const Isa isa = detect();
  return isa;
}

}  // namespace flambeau
