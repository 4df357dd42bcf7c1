#include "hostile/heap_meter.h"

#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
// Of <sanitizer/allocator_interface.h>, which Debian's GCC does not ship; its library has them.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                                         void (*on_free)(const volatile void*));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void* memory);
#endif

namespace flambeau::hostile {
namespace {

std::atomic<int64_t> taken = 0;
std::atomic<int64_t> most = 0;

[[maybe_unused]] void on_malloc(const volatile void*, size_t size) {
  const int64_t now =
      taken.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed) + static_cast<int64_t>(size);
  int64_t before = most.load(std::memory_order_relaxed);
  while (now > before && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

#if defined(__SANITIZE_ADDRESS__)
void on_free(const volatile void* memory) {
  if (memory == nullptr) return;
  taken.fetch_sub(static_cast<int64_t>(__sanitizer_get_allocated_size(memory)), std::memory_order_relaxed);
}
const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif

}  // namespace

bool HeapMeter::is_available() {
#if defined(__SANITIZE_ADDRESS__)
  return installed > 0;
#else
  return false;
#endif
}

void HeapMeter::reset() {
  taken = 0;
  most = 0;
}

uint64_t HeapMeter::peak() { return static_cast<uint64_t>(most.load()); }

}  // namespace flambeau::hostile
