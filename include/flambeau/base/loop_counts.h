// What parallel loops did and cost, for those who look for lost time. Counted only where somebody asked: a
// loop that nobody counts reads no clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace flambeau {

struct LoopCounts {
  using Time = std::chrono::nanoseconds;

  uint64_t loops = 0;    // that several threads shared
  uint64_t pieces = 0;   // that these were cut into
  uint64_t threads = 0;  // that they were cut for: the sum over loops
  uint64_t wakes = 0;    // of threads that slept
  Time time{0};          // from the beginning of a loop to its end
  Time work{0};          // in pieces, of all threads
  Time longest{0};       // in pieces, of the thread that worked longest in each loop
  Time even{0};          // what it would have worked, had all of a loop's threads worked alike
  Time waited{0};        // of callers that had no pieces left, for the others

  // The longest thread's work over the mean: 1 where all had the same. 0 without loops.
  double imbalance() const {
    return even.count() == 0 ? 0 : static_cast<double>(longest.count()) / static_cast<double>(even.count());
  }

  LoopCounts& operator+=(const LoopCounts& other) {
    loops += other.loops;
    pieces += other.pieces;
    threads += other.threads;
    wakes += other.wakes;
    time += other.time;
    work += other.work;
    longest += other.longest;
    even += other.even;
    waited += other.waited;
    return *this;
  }

  // Loops that this thread begins while it lives are counted in `counts`.
  class Scope {
   public:
    explicit Scope(LoopCounts& counts) : before_(current_) { current_ = &counts; }
    ~Scope() { current_ = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LoopCounts* before_;
  };
  // Null: nobody counts.
  static LoopCounts* current() { return current_; }

 private:
  static thread_local LoopCounts* current_;
};

}  // namespace flambeau
