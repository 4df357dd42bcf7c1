// Work that can be stopped and limited. Whoever starts some installs a WorkScope for its thread; loops
// anywhere below ask poll_work() now and then, and ThreadPool hands the scope on to its helpers. Scopes nest:
// the strictest one counts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace flambeau {

// What is 0 or null has no bound.
struct WorkLimits {
  const std::atomic<bool>* cancel = nullptr;  // set by another thread
  double seconds = 0;
  uint64_t bytes = 0;  // held at any moment
  // Called by the thread that installed the scope, a few times a second; what it throws ends the work.
  std::function<void()> look = {};
};

// The bytes that some work holds now; refuses more than its limit. Shared by the scope and by what it made.
class MemoryAccount {
 public:
  // What it holds is held in `outer` too, where there is one.
  MemoryAccount(uint64_t most, std::shared_ptr<MemoryAccount> outer)
      : most_(most), outer_(std::move(outer)) {}
  // Throws Error(kLimit).
  void take(uint64_t bytes);
  void give_back(uint64_t bytes) noexcept;
  // Throws as take does, and takes nothing.
  void require(uint64_t bytes) const;

 private:
  [[noreturn]] void refuse() const;

  uint64_t most_;
  std::atomic<uint64_t> held_ = 0;
  std::shared_ptr<MemoryAccount> outer_;
};

// Bytes of an account, given back at the end.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  // Of the innermost account of this thread; of none where it has none.
  explicit MemoryCharge(uint64_t bytes);
  MemoryCharge(MemoryCharge&& other) noexcept = default;
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge() { release(); }

 private:
  void release() noexcept;

  std::shared_ptr<MemoryAccount> account_;
  uint64_t bytes_ = 0;
};

class WorkScope {
 public:
  explicit WorkScope(WorkLimits limits);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

  // Throws Error(kCancelled) when asked to stop, Error(kLimit) when out of time.
  void poll() const;

  // What this thread works on; null for nothing limited.
  static const WorkScope* current() { return current_; }

  // A helper works for somebody else's scope.
  class Adopted {
   public:
    explicit Adopted(const WorkScope* scope) : before_(current_) { current_ = scope; }
    ~Adopted() { current_ = before_; }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;

   private:
    const WorkScope* before_;
  };

 private:
  friend class MemoryCharge;
  friend void require_memory(uint64_t bytes);
  using Clock = std::chrono::steady_clock;
  void check() const;

  static thread_local const WorkScope* current_;
  WorkLimits limits_;
  const WorkScope* outer_;
  bool has_clock_;
  std::thread::id owner_;
  Clock::time_point deadline_;
  mutable Clock::time_point next_look_;     // of the owner's thread alone
  std::shared_ptr<MemoryAccount> account_;  // the one around this scope where it has no bound
};

// Between pieces of work that take about a millisecond.
inline void poll_work() {
  if (const WorkScope* const scope = WorkScope::current()) scope->poll();
}

// For loops of short turns: asks once in many.
class WorkPoller {
 public:
  void operator()(size_t amount = 1) {
    done_ += amount;
    if (done_ < kMost) return;
    done_ = 0;
    poll_work();
  }

 private:
  static constexpr size_t kMost = size_t{1} << 16;
  size_t done_ = 0;
};

// Throws Error(kLimit) where the work's account or the machine has no room for that many bytes: before
// allocating what a program's numbers ask for.
void require_memory(uint64_t bytes);
// What this process could still take, as the system and its control group tell it.
uint64_t available_memory();

// Room for kernels whose need depends on sizes: asks require_memory first.
template <typename T>
struct LimitedAllocator : std::allocator<T> {
  LimitedAllocator() = default;
  template <typename U>
  LimitedAllocator(const LimitedAllocator<U>&) {}  // NOLINT(google-explicit-constructor)
  template <typename U>
  struct rebind {
    using other = LimitedAllocator<U>;
  };
  T* allocate(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) require_memory(SIZE_MAX);
    require_memory(count * sizeof(T));
    return std::allocator<T>::allocate(count);
  }
};

template <typename T>
using ScratchVector = std::vector<T, LimitedAllocator<T>>;

}  // namespace flambeau
