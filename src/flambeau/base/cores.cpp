#include "flambeau/base/cores.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace flambeau {
namespace {

int allowed_processors() {
#ifdef __linux__
  cpu_set_t set;
  // Refused where the machine has more of them than the set can hold.
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int cores_of_quota(std::string_view text) {
  int64_t quota = 0, period = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, quota);  // "max" is no number
  if (first.ec != std::errc() || first.ptr == end) return 0;
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc() || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<int64_t>((quota - 1) / period + 1, 1 << 20));
}

int usable_cores() {
  int cores = std::max(allowed_processors(), 1);
  if (std::FILE* const file = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
    char line[64];
    const size_t length = std::fread(line, 1, sizeof line, file);
    std::fclose(file);
    if (const int given = cores_of_quota({line, length}); given > 0) cores = std::min(cores, given);
  }
  return cores;
}

}  // namespace flambeau
