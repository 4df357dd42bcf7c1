#include "run_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "terminal.h"

namespace flambeau::cli {

namespace {
using Clock = std::chrono::steady_clock;
}

RunWatch::RunWatch(bool is_quiet)
    : is_shown_(!is_quiet && isatty(STDERR_FILENO) == 1),
      started_(Clock::now()),
      thread_([this] { watch(); }) {}

RunWatch::~RunWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RunWatch::begin(std::string stage) {
  const std::lock_guard lock(mutex_);
  stage_ = std::move(stage);
  started_ = Clock::now();
}

void RunWatch::watch() {
  bool is_drawn = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return is_done_; })) {
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    if (!is_shown_ || seconds < 1) continue;
    print_to_stderr("\r\x1b[K{}: {:.0f} s", stage_, seconds);
    std::fflush(stderr);
    is_drawn = true;
  }
  if (is_drawn) {
    print_to_stderr("\r\x1b[K");
    std::fflush(stderr);
  }
}

}  // namespace flambeau::cli
