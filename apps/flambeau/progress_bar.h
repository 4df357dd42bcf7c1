// Turns the library's progress reports into a bar on standard error, once the work takes over a second.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "flambeau/files.h"

namespace flambeau::cli {

class ProgressBar final : public Progress {
 public:
  // Shows nothing unless standard error is a terminal, or when `is_quiet`.
  explicit ProgressBar(bool is_quiet);
  ~ProgressBar() override;

  void begin(std::string_view stage, uint64_t total) override;
  void advance(uint64_t amount) override;
  // Control-C stops the work in an orderly way.
  bool cancelled() const override;

 private:
  void draw();
  void erase();

  bool is_shown_;
  bool is_drawn_ = false;
  std::mutex mutex_;
  std::string stage_;
  uint64_t total_ = 0;
  std::atomic<uint64_t> done_{0};
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_;
};

// From now on Control-C sets the flag that ProgressBar::cancelled reads, instead of ending the process.
void catch_interrupts();
bool was_interrupted();

}  // namespace flambeau::cli
