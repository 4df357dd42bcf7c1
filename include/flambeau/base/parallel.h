// The one parallel loop. A pool is a value its owner passes down; there is no hidden global one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace flambeau {

// What work takes on one thread, about. The one measure of whether more threads pay: loops say what they do,
// and are cut no finer than into pieces of kPieceTime.
struct Cost {
  double operations = 0;  // multiplications with their additions, in vectors
  double bytes = 0;       // read and written, from beyond the nearest caches

  // Ordinary processors do 30 operations and move 15 bytes in a nanosecond.
  constexpr double nanoseconds() const {
    const double computing = operations / 30, moving = bytes / 15;
    return computing > moving ? computing : moving;
  }
  // How many of such units make a piece that pays.
  size_t grain() const;
};

// Nanoseconds. Handing a piece to a thread that is awake takes one, and waiting for it at the end another.
constexpr double kPieceTime = 4000;

class ThreadPool {
 public:
  // `threads` counts the calling thread: 1 means no helpers. 0 takes as many as the process may use of the
  // machine's cores; where the system refuses a thread, the pool has fewer. `cores` are those that threads
  // share, 0 for what the process may use: threads beyond them would only take time from each other, so they
  // are never started.
  explicit ThreadPool(int threads = 0, int cores = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) over [0, count) in pieces of at least `grain` (the last may be smaller); returns
  // when all are done. Stops between pieces where the caller's WorkScope says so. A thread begins with the
  // same part of the range in each loop of the same count and grain, so that what it has read lies near.
  // The first exception stops handing out pieces and is thrown here. May be called from several threads
  // and from inside a body (an inner loop then runs on the calling thread alone).
  void for_each_range(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body);

 private:
  struct Shared;
  int threads_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace flambeau
