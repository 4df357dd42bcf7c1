#include "flambeau/base/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "flambeau/base/work.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace flambeau {
namespace {

using Body = std::function<void(size_t, size_t)>;

// What lies closer together is passed between cores as one.
constexpr size_t kCacheLine = 64;

// Where a caller puts its loop. Places outlive loops, so that a helper may look into one at any time: it
// counts itself in, and only then asks whether there is a loop. A caller ends its loop first, and then waits
// until nobody is counted. One of the two sees the other.
struct Place {
  alignas(kCacheLine) std::atomic<bool> is_taken{false};
  std::atomic<bool> is_open{false};
  const Body* body = nullptr;
  size_t count = 0;
  size_t step = 0;
  const WorkScope* work = nullptr;       // of all who work on it: ends when one of them fails
  std::exception_ptr failure = nullptr;  // written by the first who fails
  alignas(kCacheLine) std::atomic<size_t> next{0};
  std::atomic<bool> has_failed{false};
  alignas(kCacheLine) std::atomic<int> inside{0};
};

// More callers at once than this work alone.
constexpr size_t kPlaces = 16;

thread_local bool inside_loop = false;

// A piece has at most this many grains, so that work can be stopped between pieces. A grain is what just pays
// for a thread: some ten microseconds.
constexpr size_t kMostGrains = 64;

// A run is many short loops with little between them, and waking a thread takes as long as one of them: who
// has nothing to do looks around for a while before sleeping.
constexpr auto kAwake = std::chrono::microseconds(100);

// Tells the processor that this thread waits.
void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Whether it came true within that time.
template <typename Condition>
bool look_for(std::chrono::microseconds time, const Condition& is_true) {
  constexpr int kLooksBetweenClocks = 16;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < kLooksBetweenClocks; ++i) {
      if (is_true()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

struct ThreadPool::Shared {
  std::array<Place, kPlaces> places;
  // A bit for each place where pieces may be left.
  alignas(kCacheLine) std::atomic<uint32_t> open{0};
  // Counts what is worth waking up for.
  alignas(kCacheLine) std::atomic<int> calls{0};
  std::atomic<int> asleep{0};
  std::atomic<bool> stopping{false};
  std::chrono::microseconds awake{0};
  std::vector<std::thread> helpers;

  // Null when all are taken.
  Place* take_place() {
    for (Place& place : places) {
      if (!place.is_taken.load(std::memory_order_relaxed) && !place.is_taken.exchange(true)) return &place;
    }
    return nullptr;
  }

  uint32_t bit_of(const Place& place) const { return uint32_t{1} << (&place - places.data()); }

  void call(size_t wanted) {
    ++calls;
    const int sleeping = asleep.load();
    if (sleeping == 0) return;
    if (wanted >= static_cast<size_t>(sleeping)) return calls.notify_all();
    for (; wanted > 0; --wanted) calls.notify_one();
  }

  // Of whoever is counted in, or owns the place.
  void run_pieces(Place& place) {
    inside_loop = true;
    try {
      for (;;) {
        const size_t begin = place.next.fetch_add(place.step);
        if (begin >= place.count) break;
        poll_work();
        (*place.body)(begin, std::min(place.count, begin + place.step));
      }
    } catch (...) {
      place.next.store(place.count);
      if (!place.has_failed.exchange(true)) place.failure = std::current_exception();
    }
    inside_loop = false;
    if (const uint32_t bit = bit_of(place); (open.load(std::memory_order_relaxed) & bit) != 0) open &= ~bit;
  }

  void join(Place& place) {
    ++place.inside;
    if (place.is_open.load()) {
      const WorkScope::Adopted adopted(place.work);
      run_pieces(place);
    }
    if (--place.inside == 0) place.inside.notify_all();
  }

  void help(size_t number) {
    const auto is_called = [&] { return open.load() != 0 || stopping.load(); };
    for (;;) {
      const int seen = calls.load();
      if (is_called() || look_for(awake, is_called)) {
        if (stopping.load()) return;
        // Helpers begin at different places, where there are several callers.
        const auto turn = static_cast<int>(number % kPlaces);
        const uint32_t found = open.load();
        if (found == 0) continue;
        constexpr uint32_t kAll = (uint32_t{1} << kPlaces) - 1;
        const uint32_t turned = ((found >> turn) | (found << (static_cast<int>(kPlaces) - turn))) & kAll;
        join(places[(static_cast<size_t>(std::countr_zero(turned)) + number) % kPlaces]);
        continue;
      }
      ++asleep;
      calls.wait(seen);
      --asleep;
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      shared_(std::make_unique<Shared>()) {
  // Where threads share cores, one that looks around keeps another from working.
  if (static_cast<unsigned>(threads_) <= std::thread::hardware_concurrency()) shared_->awake = kAwake;
  shared_->helpers.reserve(static_cast<size_t>(threads_ - 1));
  try {
    Shared* shared = shared_.get();
    while (shared->helpers.size() + 1 < static_cast<size_t>(threads_)) {
      shared->helpers.emplace_back([shared, number = shared->helpers.size()] { shared->help(number); });
    }
  } catch (const std::system_error&) {
    threads_ = static_cast<int>(shared_->helpers.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  shared_->stopping = true;
  ++shared_->calls;
  shared_->calls.notify_all();
  for (std::thread& helper : shared_->helpers) helper.join();
}

void ThreadPool::for_each_range(size_t count, size_t grain, const Body& body) {
  if (count == 0) return;
  grain = std::max<size_t>(grain, 1);
  const size_t most = count / kMostGrains < grain ? count : grain * kMostGrains;
  Place* const place = threads_ == 1 || count <= grain || inside_loop ? nullptr : shared_->take_place();
  if (place == nullptr) {
    for (size_t begin = 0; begin < count;) {
      poll_work();
      const size_t length = std::min(most, count - begin);
      body(begin, begin + length);
      begin += length;
    }
    return;
  }
  // A few pieces per thread even out unequal work.
  const size_t pieces = std::min(count / grain, static_cast<size_t>(threads_) * 4);
  place->body = &body;
  place->count = count;
  place->step = std::min(count / pieces + (count % pieces != 0 ? 1 : 0), most);
  place->next = 0;
  place->has_failed = false;
  const WorkScope work({.cancel = &place->has_failed});
  place->work = &work;
  place->is_open = true;
  shared_->open |= shared_->bit_of(*place);
  shared_->call(std::min(pieces, static_cast<size_t>(threads_)) - 1);
  shared_->run_pieces(*place);
  place->is_open = false;
  const auto is_empty = [&] { return place->inside.load() == 0; };
  if (!is_empty() && !look_for(shared_->awake, is_empty)) {
    for (int inside = place->inside.load(); inside != 0; inside = place->inside.load()) {
      place->inside.wait(inside);
    }
  }
  const std::exception_ptr failure = std::exchange(place->failure, nullptr);
  place->is_taken = false;
  if (failure) std::rethrow_exception(failure);
}

}  // namespace flambeau
