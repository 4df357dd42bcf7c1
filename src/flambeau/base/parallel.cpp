#include "flambeau/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "flambeau/base/work.h"

namespace flambeau {
namespace {

// One running loop. Lives on the caller's stack: the caller leaves only when `inside` is zero and the
// loop is no longer in the pool's queue.
struct Loop {
  const std::function<void(size_t, size_t)>* body;
  size_t count;
  size_t step;
  std::atomic<size_t> next{0};
  std::atomic<bool> has_failed{false};
  const WorkScope* work = nullptr;  // of all who work on it: ends when one of them fails
  std::exception_ptr failure;       // guarded by the pool's mutex
  int inside = 0;                   // helpers working on it; guarded by the pool's mutex
};

thread_local bool inside_loop = false;

// A piece has at most this many grains, so that work can be stopped between pieces. A grain is what just pays
// for a thread: some ten microseconds.
constexpr size_t kMostGrains = 64;

}  // namespace

struct ThreadPool::Shared {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable helper_left;
  std::deque<Loop*> loops;
  bool stopping = false;
  std::vector<std::thread> helpers;

  void run_pieces(Loop& loop) {
    inside_loop = true;
    try {
      for (;;) {
        const size_t begin = loop.next.fetch_add(loop.step);
        if (begin >= loop.count) break;
        poll_work();
        (*loop.body)(begin, std::min(loop.count, begin + loop.step));
      }
    } catch (...) {
      loop.next.store(loop.count);
      const std::lock_guard lock(mutex);
      if (!loop.failure) loop.failure = std::current_exception();
      loop.has_failed = true;
    }
    inside_loop = false;
  }

  void help() {
    std::unique_lock lock(mutex);
    for (;;) {
      work_ready.wait(lock, [&] { return stopping || !loops.empty(); });
      if (stopping) return;
      Loop& loop = *loops.front();
      if (loop.next.load() >= loop.count) {  // nothing left to hand out
        loops.pop_front();
        continue;
      }
      ++loop.inside;
      lock.unlock();
      {
        const WorkScope::Adopted adopted(loop.work);
        run_pieces(loop);
      }
      lock.lock();
      --loop.inside;
      helper_left.notify_all();
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      shared_(std::make_unique<Shared>()) {
  shared_->helpers.reserve(static_cast<size_t>(threads_ - 1));
  try {
    Shared* shared = shared_.get();
    while (shared->helpers.size() + 1 < static_cast<size_t>(threads_)) {
      shared->helpers.emplace_back([shared] { shared->help(); });
    }
  } catch (const std::system_error&) {
    threads_ = static_cast<int>(shared_->helpers.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->work_ready.notify_all();
  for (std::thread& helper : shared_->helpers) helper.join();
}

void ThreadPool::for_each_range(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) {
  if (count == 0) return;
  grain = std::max<size_t>(grain, 1);
  const size_t most = count / kMostGrains < grain ? count : grain * kMostGrains;
  if (threads_ == 1 || count <= grain || inside_loop) {
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
  const size_t step = std::min(count / pieces + (count % pieces != 0 ? 1 : 0), most);
  Loop loop{.body = &body, .count = count, .step = step, .failure = nullptr};
  const WorkScope work({.cancel = &loop.has_failed});
  loop.work = &work;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->loops.push_back(&loop);
  }
  shared_->work_ready.notify_all();
  shared_->run_pieces(loop);
  std::unique_lock lock(shared_->mutex);
  std::erase(shared_->loops, &loop);
  shared_->helper_left.wait(lock, [&] { return loop.inside == 0; });
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace flambeau
