#include "flambeau/base/files/mapping_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <vector>

namespace flambeau {

// The handler reads ranges while others are added: they are never freed, and one whose begin is 0 is
// nobody's.
struct MappingGuard::Range {
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> was_hit = false;
};

struct MappingGuard::Chunk {
  std::array<Range, 64> ranges;
  Chunk* next = nullptr;
};

struct MappingGuard::Registry {
  Registry() {
    page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = [](int number, siginfo_t* info, void* context) { handle(number, info, context); };
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, nullptr, &before);
    sigaction(SIGBUS, &action, nullptr);
  }

  Range* take() {
    const std::lock_guard lock(mutex);
    if (free.empty()) {
      auto* const chunk = new Chunk;
      chunk->next = chunks.load(std::memory_order_relaxed);
      for (Range& range : chunk->ranges) free.push_back(&range);
      chunks.store(chunk, std::memory_order_release);
    }
    Range* const range = free.back();
    free.pop_back();
    return range;
  }
  void give_back(Range* range) {
    const std::lock_guard lock(mutex);
    free.push_back(range);
  }

  // Of the handler: only calls that a signal may make.
  Range* find(uintptr_t address) const {
    for (Chunk* chunk = chunks.load(std::memory_order_acquire); chunk != nullptr; chunk = chunk->next) {
      for (Range& range : chunk->ranges) {
        const uintptr_t begin = range.begin.load(std::memory_order_acquire);
        if (begin != 0 && begin <= address && address < range.end.load(std::memory_order_relaxed))
          return &range;
      }
    }
    return nullptr;
  }
  // What is behind the page is gone as well: a file is cut short from its end.
  bool fill(Range& range, uintptr_t address) const {
    const uintptr_t from = address / page * page;
    void* const at = reinterpret_cast<void*>(from);
    range.was_hit.store(true, std::memory_order_release);
    return mmap(at, range.end.load(std::memory_order_relaxed) - from, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at;
  }
  void hand_on(int number, siginfo_t* info, void* context) const {
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
    // The fault comes again and ends the process; a signal that was sent does not come by itself.
    signal(number, SIG_DFL);
    if (info->si_code <= 0) raise(number);
  }

  std::atomic<Chunk*> chunks = nullptr;
  struct sigaction before{};
  uintptr_t page = 0;
  std::mutex mutex;
  std::vector<Range*> free;
};

// Never destroyed: mappings may outlive what is static.
MappingGuard::Registry& MappingGuard::registry() {
  static Registry& made = *new Registry;
  return made;
}

void MappingGuard::handle(int number, void* info, void* context) {
  const int error_number = errno;
  const Registry& all = registry();
  auto* const fault = static_cast<siginfo_t*>(info);
  const auto address = reinterpret_cast<uintptr_t>(fault->si_addr);
  Range* const range = fault->si_code == BUS_ADRERR ? all.find(address) : nullptr;
  if (range == nullptr || !all.fill(*range, address)) all.hand_on(number, fault, context);
  errno = error_number;
}

MappingGuard::MappingGuard(const void* begin, size_t size) : range_(registry().take()) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t page = registry().page;
  range_->was_hit.store(false, std::memory_order_relaxed);
  range_->end.store((address + size + page - 1) / page * page, std::memory_order_relaxed);
  range_->begin.store(address, std::memory_order_release);
}

MappingGuard::~MappingGuard() {
  range_->begin.store(0, std::memory_order_release);
  registry().give_back(range_);
}

bool MappingGuard::was_hit() const { return range_->was_hit.load(std::memory_order_acquire); }

}  // namespace flambeau
