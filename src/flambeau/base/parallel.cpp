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

#include "flambeau/base/cores.h"
#include "flambeau/base/loop_counts.h"
#include "flambeau/base/work.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace flambeau {
namespace {

using Body = std::function<void(size_t, size_t)>;
using Clock = std::chrono::steady_clock;

// What lies closer together is passed between cores as one.
constexpr size_t kCacheLine = 64;

// The part of a loop that one thread begins with. Who has done its own takes what the others have left, so
// that a late thread holds up nobody.
struct alignas(kCacheLine) Share {
  std::atomic<size_t> next{0};
  size_t end = 0;
  // 1 while the helper of this share may look at the loop.
  std::atomic<int> inside{0};
  // Of the thread of this share, where the loop is counted.
  LoopCounts::Time work{0};
  uint64_t pieces = 0;
};

// Where a caller puts its loop. Places outlive loops, so that a helper may look into one at any time: it
// says that it is inside, and only then asks whether there is a loop for it. A caller ends its loop first,
// and then waits until nobody is inside. One of the two sees the other.
struct Place {
  alignas(kCacheLine) std::atomic<bool> is_taken{false};
  // How many threads the loop is for, the caller among them; 0: there is none.
  alignas(kCacheLine) std::atomic<size_t> members{0};
  size_t shares_used = 0;
  const Body* body = nullptr;
  size_t step = 0;
  const WorkScope* work = nullptr;       // of all who work on it: ends when one of them fails
  std::exception_ptr failure = nullptr;  // written by the first who fails
  bool is_counted = false;
  alignas(kCacheLine) std::atomic<bool> has_failed{false};
  // The next member to look after, whether it sleeps; how many did.
  alignas(kCacheLine) std::atomic<size_t> to_call{0};
  std::atomic<uint64_t> wakes{0};
  std::vector<Share> shares;
};

struct alignas(kCacheLine) Helper {
  std::atomic<int> calls{0};  // each is worth waking up for
  std::atomic<bool> is_asleep{false};
};

// More callers at once than this work alone.
constexpr size_t kPlaces = 16;

thread_local bool inside_loop = false;

// A piece has at most this many grains, so that work can be stopped between pieces. A grain is what just pays
// for a thread: some microseconds.
constexpr size_t kMostGrains = 64;
// So many pieces for each thread even out unequal work.
constexpr size_t kMostPieces = 4;

// A run is many short loops with little between them, and waking a thread takes as long as one of them: who
// has nothing to do looks around for a while before sleeping, and soon lets others have the core meanwhile.
constexpr auto kAwake = std::chrono::microseconds(100);
constexpr auto kAlone = std::chrono::microseconds(10);

// Tells the processor that this thread waits.
void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Whether it came true within a while.
template <typename Condition>
bool look_for(const Condition& is_true) {
  constexpr int kLooksBetweenClocks = 16;
  const auto begin = Clock::now();
  for (;;) {
    for (int i = 0; i < kLooksBetweenClocks; ++i) {
      if (is_true()) return true;
      pause();
    }
    const auto waited = Clock::now() - begin;
    if (waited > kAwake) return false;
    if (waited > kAlone) std::this_thread::yield();
  }
}

size_t divide_up(size_t value, size_t by) { return value / by + (value % by != 0 ? 1 : 0); }

// How long pieces are: of the numbers of pieces for each thread the one with which the last thread is done
// first, and the largest of these.
size_t step_for(size_t count, size_t grain, size_t threads) {
  size_t best = 0, least = 0;
  for (size_t each = 1; each <= kMostPieces; ++each) {
    const size_t step = std::max(divide_up(count, threads * each), grain);
    const size_t longest = divide_up(divide_up(count, step), threads) * step;
    if (best == 0 || longest <= least) best = step, least = longest;
  }
  return best;
}

}  // namespace

thread_local LoopCounts* LoopCounts::current_ = nullptr;

size_t Cost::grain() const {
  const double each = nanoseconds();
  return each * 1e6 < kPieceTime ? size_t{1000000}
                                 : std::max<size_t>(1, static_cast<size_t>(kPieceTime / each));
}

struct ThreadPool::Shared {
  std::array<Place, kPlaces> places;
  std::vector<Helper> helpers;
  // A bit for each place where pieces may be left.
  alignas(kCacheLine) std::atomic<uint32_t> open{0};
  alignas(kCacheLine) std::atomic<bool> stopping{false};
  std::vector<std::thread> running;

  explicit Shared(size_t helper_count) : helpers(helper_count) {
    for (Place& place : places) place.shares = std::vector<Share>(helper_count + 1);
  }

  // Null when all are taken.
  Place* take_place() {
    for (Place& place : places) {
      if (!place.is_taken.load(std::memory_order_relaxed) && !place.is_taken.exchange(true)) return &place;
    }
    return nullptr;
  }

  size_t index_of(const Place& place) const { return static_cast<size_t>(&place - places.data()); }
  uint32_t bit_of(const Place& place) const { return uint32_t{1} << index_of(place); }

  // Short loops of several callers get different helpers: each place counts from another one.
  size_t first_helper(const Place& place) const { return index_of(place) * helpers.size() / kPlaces; }
  size_t member_of(const Place& place, size_t helper) const {
    const size_t count = helpers.size();
    return (helper + count - first_helper(place)) % count + 1;
  }
  Helper& helper_of(const Place& place, size_t member) {
    return helpers[(first_helper(place) + member - 1) % helpers.size()];
  }

  // A loop that wants this helper; null for none.
  Place* find_loop(size_t helper) {
    const uint32_t found = open.load();
    // Helpers begin with different ones, where there are several.
    const int count = std::popcount(found);
    for (int i = 0; i < count; ++i) {
      uint32_t rest = found;
      for (int skipped = (static_cast<int>(helper % kPlaces) + i) % count; skipped > 0; --skipped)
        rest &= rest - 1;
      Place& place = places[static_cast<size_t>(std::countr_zero(rest))];
      if (member_of(place, helper) < place.members.load()) return &place;
    }
    return nullptr;
  }

  // Wakes two of the loop's members that sleep, who do the same: waking one takes as long as a piece of work.
  void call_two(Place& place) {
    const size_t members = place.shares_used;
    for (int woken = 0; woken < 2;) {
      if (place.to_call.load(std::memory_order_relaxed) >= members) return;
      const size_t member = place.to_call.fetch_add(1);
      if (member >= members) return;
      Helper& helper = helper_of(place, member);
      if (!helper.is_asleep.load()) continue;
      ++helper.calls;
      helper.calls.notify_one();
      ++woken;
      if (place.is_counted) ++place.wakes;
    }
  }

  // Of a member that is inside, or of the caller, who is the first.
  void run_pieces(Place& place, size_t member) {
    inside_loop = true;
    const size_t shares = place.shares_used;
    const auto begun = place.is_counted ? Clock::now() : Clock::time_point();
    uint64_t pieces = 0;
    try {
      for (size_t i = 0; i < shares; ++i) {
        Share& share = place.shares[(member + i) % shares];
        while (share.next.load(std::memory_order_relaxed) < share.end) {
          const size_t begin = share.next.fetch_add(place.step);
          if (begin >= share.end) break;
          poll_work();
          (*place.body)(begin, std::min(share.end, begin + place.step));
          ++pieces;
        }
      }
    } catch (...) {
      if (!place.has_failed.exchange(true)) place.failure = std::current_exception();
    }
    inside_loop = false;
    if (place.is_counted) {
      place.shares[member].pieces = pieces;
      place.shares[member].work = pieces == 0 ? LoopCounts::Time(0) : Clock::now() - begun;
    }
    if (const uint32_t bit = bit_of(place); (open.load(std::memory_order_relaxed) & bit) != 0) open &= ~bit;
  }

  void join(Place& place, size_t member, bool has_slept) {
    Share& own = place.shares[member];
    own.inside = 1;
    if (member < place.members.load()) {
      if (has_slept) call_two(place);
      const WorkScope::Adopted adopted(place.work);
      run_pieces(place, member);
    }
    own.inside = 0;
    own.inside.notify_one();
  }

  void help(size_t number) {
    Helper& self = helpers[number];
    bool has_slept = false;
    for (;;) {
      const int seen = self.calls.load();
      Place* place = nullptr;
      const auto is_called = [&] { return stopping.load() || (place = find_loop(number)) != nullptr; };
      if (is_called() || look_for(is_called)) {
        if (stopping.load()) return;
        join(*place, member_of(*place, number), std::exchange(has_slept, false));
        continue;
      }
      self.is_asleep = true;
      if (!is_called()) self.calls.wait(seen);
      self.is_asleep = false;
      has_slept = true;
    }
  }

  void wait_for(const Share& share) {
    const auto is_left = [&] { return share.inside.load() == 0; };
    if (is_left() || look_for(is_left)) return;
    for (int inside = share.inside.load(); inside != 0; inside = share.inside.load())
      share.inside.wait(inside);
  }

  static void count(LoopCounts& counts, const Place& place, Clock::time_point begun, Clock::time_point done) {
    const size_t members = place.shares_used;
    LoopCounts::Time work{0}, longest{0};
    for (size_t member = 0; member < members; ++member) {
      const Share& share = place.shares[member];
      counts.pieces += share.pieces;
      work += share.work;
      longest = std::max(longest, share.work);
    }
    const auto end = Clock::now();
    ++counts.loops;
    counts.threads += members;
    counts.wakes += place.wakes.load();
    counts.time += end - begun;
    counts.work += work;
    counts.longest += longest;
    counts.even += work / static_cast<int64_t>(members);
    counts.waited += end - done;
  }
};

ThreadPool::ThreadPool(int threads, int cores) : threads_(threads) {
  if (cores <= 0) cores = usable_cores();
  if (threads_ <= 0) threads_ = cores;
  const auto wanted = static_cast<size_t>(std::min(threads_, cores)) - 1;
  shared_ = std::make_unique<Shared>(wanted);
  shared_->running.reserve(wanted);
  try {
    Shared* shared = shared_.get();
    while (shared->running.size() < wanted) {
      shared->running.emplace_back([shared, number = shared->running.size()] { shared->help(number); });
    }
  } catch (const std::system_error&) {
    threads_ = static_cast<int>(shared_->running.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  shared_->stopping = true;
  for (Helper& helper : shared_->helpers) {
    ++helper.calls;
    helper.calls.notify_one();
  }
  for (std::thread& helper : shared_->running) helper.join();
}

void ThreadPool::for_each_range(size_t count, size_t grain, const Body& body) {
  if (count == 0) return;
  grain = std::max<size_t>(grain, 1);
  const size_t most = count / kMostGrains < grain ? count : grain * kMostGrains;
  // A piece that pays for each.
  const size_t members = std::min(count / grain, shared_->running.size() + 1);
  Place* const place = members <= 1 || inside_loop ? nullptr : shared_->take_place();
  if (place == nullptr) {
    for (size_t begin = 0; begin < count;) {
      poll_work();
      const size_t length = std::min(most, count - begin);
      body(begin, begin + length);
      begin += length;
    }
    return;
  }
  LoopCounts* const counts = LoopCounts::current();
  const auto begun = counts != nullptr ? Clock::now() : Clock::time_point();
  place->body = &body;
  place->step = std::min(step_for(count, grain, members), most);
  place->shares_used = members;
  const size_t pieces = divide_up(count, place->step);
  for (size_t member = 0; member < members; ++member) {
    Share& share = place->shares[member];
    share.next.store(std::min(count, pieces * member / members * place->step), std::memory_order_relaxed);
    share.end = std::min(count, pieces * (member + 1) / members * place->step);
    share.pieces = 0;
    share.work = LoopCounts::Time(0);
  }
  place->is_counted = counts != nullptr;
  place->wakes.store(0, std::memory_order_relaxed);
  place->to_call.store(1, std::memory_order_relaxed);
  place->has_failed.store(false, std::memory_order_relaxed);
  const WorkScope work({.cancel = &place->has_failed});
  place->work = &work;
  place->members = members;
  shared_->open |= shared_->bit_of(*place);
  shared_->call_two(*place);
  shared_->run_pieces(*place, 0);
  place->members = 0;
  const auto done = counts != nullptr ? Clock::now() : Clock::time_point();
  for (size_t member = 1; member < members; ++member) shared_->wait_for(place->shares[member]);
  if (counts != nullptr) Shared::count(*counts, *place, begun, done);
  const std::exception_ptr failure = std::exchange(place->failure, nullptr);
  place->is_taken = false;
  if (failure) std::rethrow_exception(failure);
}

}  // namespace flambeau
