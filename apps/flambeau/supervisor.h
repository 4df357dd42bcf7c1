// Ends a command in time: at Control-C, at the end of its time limit, beyond its memory limit. The work is
// asked to stop first, so that its error says what it was doing; if it does not within a moment, the process
// ends. Nothing is lost then: files are written whole or not at all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "command.h"
#include "flambeau/work.h"

namespace flambeau::cli {

class Supervisor {
 public:
  // Around the whole command. Catches SIGINT and SIGTERM; a second one ends the process at once.
  explicit Supervisor(const CommonOptions& common);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

 private:
  void supervise();
  void throw_beyond_memory() const;

  const CommonOptions& common_;
  std::atomic<bool> cancel_ = false;
  std::atomic<bool> is_beyond_memory_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::thread thread_;
  WorkScope work_;
};

}  // namespace flambeau::cli
