// The one parallel loop. A pool is a value its owner passes down; there is no hidden global one.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace flambeau {

class ThreadPool {
 public:
  // `threads` counts the calling thread: 1 means no helpers. 0 takes the machine's number of cores. Where
  // the system refuses a thread, the pool has fewer.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) over [0, count) in pieces of at least `grain` (the last may be smaller); returns
  // when all are done. Stops between pieces where the caller's WorkScope says so.
  // The first exception stops handing out pieces and is thrown here. May be called from several threads
  // and from inside a body (an inner loop then runs on the calling thread alone).
  void for_each_range(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body);

 private:
  struct Shared;
  int threads_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace flambeau
