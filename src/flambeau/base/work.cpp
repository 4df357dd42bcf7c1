#include "flambeau/base/work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <utility>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
// Smaller requests are the allocator's business: asking the system costs more than they do.
constexpr uint64_t kLargeRequest = uint64_t{32} << 20;

// The number in a small file of the system's, after `name` where one is given.
uint64_t read_system_number(const char* path, const char* name = "") {
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return kNoBound;
  uint64_t number = kNoBound;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) != 0) continue;
    unsigned long long found = 0;
    if (std::sscanf(line + std::strlen(name), "%llu", &found) == 1) number = found;  // "max" is no number
    break;
  }
  std::fclose(file);
  return number;
}

// A few milliseconds late, and several times cheaper than the exact time: it is asked between short steps.
std::chrono::steady_clock::time_point about_now() {
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec now{};
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0) {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                                 std::chrono::nanoseconds(now.tv_nsec));
  }
#endif
  return std::chrono::steady_clock::now();
}

}  // namespace

thread_local const WorkScope* WorkScope::current_ = nullptr;

void MemoryAccount::refuse() const {
  throw Error(ErrorCode::kLimit,
              fmt::format("the run needs more than the {} bytes of memory it was given", most_),
              "give it more, or smaller inputs");
}

void MemoryAccount::take(uint64_t bytes) {
  if (outer_) outer_->take(bytes);
  const uint64_t before = held_.fetch_add(bytes, std::memory_order_relaxed);
  if (before <= most_ && bytes <= most_ - before) return;
  give_back(bytes);
  refuse();
}

void MemoryAccount::give_back(uint64_t bytes) noexcept {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  if (outer_) outer_->give_back(bytes);
}

void MemoryAccount::require(uint64_t bytes) const {
  const uint64_t held = held_.load(std::memory_order_relaxed);
  if (held > most_ || bytes > most_ - held) refuse();
  if (outer_) outer_->require(bytes);
}

MemoryCharge::MemoryCharge(uint64_t bytes) : bytes_(bytes) {
  const WorkScope* const scope = WorkScope::current();
  if (scope == nullptr || !scope->account_) return;
  scope->account_->take(bytes);
  account_ = scope->account_;
}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  release();
  account_ = std::move(other.account_);
  bytes_ = other.bytes_;
  return *this;
}

void MemoryCharge::release() noexcept {
  if (account_) account_->give_back(bytes_);
  account_.reset();
}

WorkScope::WorkScope(WorkLimits limits)
    : limits_(std::move(limits)),
      outer_(current_),
      has_clock_(limits_.seconds > 0 || limits_.look != nullptr),
      owner_(std::this_thread::get_id()) {
  if (has_clock_) {
    const auto now = about_now();
    next_look_ = now + kBetweenLooks;
    // A century is as good as no bound, and does not wrap.
    const double seconds = std::min(limits_.seconds, 3.2e9);
    deadline_ = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  if (outer_ != nullptr) account_ = outer_->account_;
  if (limits_.bytes != 0) account_ = std::make_shared<MemoryAccount>(limits_.bytes, account_);
  // One that bounds nothing need not be asked.
  if (has_clock_ || limits_.bytes != 0 || limits_.cancel != nullptr) current_ = this;
}

WorkScope::~WorkScope() { current_ = outer_; }

void WorkScope::check() const {
  if (limits_.cancel != nullptr && limits_.cancel->load(std::memory_order_relaxed)) {
    throw Error(ErrorCode::kCancelled, "the run was cancelled");
  }
  if (!has_clock_) return;
  const auto now = about_now();
  if (limits_.seconds > 0 && now >= deadline_) {
    throw Error(ErrorCode::kLimit, fmt::format("it takes longer than the {} s it was given", limits_.seconds),
                "give it more time, or smaller inputs");
  }
  if (limits_.look != nullptr && std::this_thread::get_id() == owner_ && now >= next_look_) {
    next_look_ = now + kBetweenLooks;
    limits_.look();
  }
}

void WorkScope::poll() const {
  for (const WorkScope* scope = this; scope != nullptr; scope = scope->outer_) scope->check();
}

uint64_t available_memory() {
  const uint64_t machine = read_system_number("/proc/meminfo", "MemAvailable:");
  uint64_t available = machine == kNoBound ? kNoBound : machine * 1024;
  const uint64_t most = read_system_number("/sys/fs/cgroup/memory.max");
  if (most == kNoBound) return available;
  const uint64_t used = read_system_number("/sys/fs/cgroup/memory.current");
  // Pages of files count as used, and go when memory is needed.
  const uint64_t files = read_system_number("/sys/fs/cgroup/memory.stat", "file ");
  const uint64_t held = used == kNoBound ? 0 : used - std::min(used, files == kNoBound ? 0 : files);
  return std::min(available, most - std::min(most, held));
}

void require_memory(uint64_t bytes) {
  const WorkScope* const scope = WorkScope::current();
  if (scope != nullptr && scope->account_) scope->account_->require(bytes);
  if (bytes < kLargeRequest) return;
  const uint64_t available = available_memory();
  if (bytes <= available) return;
  throw Error(ErrorCode::kLimit,
              fmt::format("there is no memory for {} bytes: {} are left", bytes, available),
              "free some memory, or give smaller sizes");
}

}  // namespace flambeau
