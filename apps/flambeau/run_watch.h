// Watches long work from a thread of its own: tells on standard error how long it takes once that is over a
// second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace flambeau::cli {

class RunWatch {
 public:
  // Shows nothing unless standard error is a terminal, or when `is_quiet`.
  explicit RunWatch(bool is_quiet);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // What is being done now: "running".
  void begin(std::string stage);

 private:
  void watch();

  const bool is_shown_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point started_;
  std::thread thread_;
};

}  // namespace flambeau::cli
