#include "supervisor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "flambeau/error.h"
#include "flambeau/report.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using Clock = std::chrono::steady_clock;

// How long the work may take to end by itself.
constexpr auto kPatience = std::chrono::milliseconds(300);
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// Memory of the process's own, without the pages of files.
uint64_t own_memory() {
  std::FILE* const file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return 0;
  unsigned long long kilobytes = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "RssAnon: %llu", &kilobytes) == 1) break;
  }
  std::fclose(file);
  return kilobytes * 1024;
}

// Past buffers and locks, which the stuck work may hold.
[[noreturn]] void end_process(const Error& error, const CommonOptions& common) {
  const std::string text =
      common.json ? json::dump(report::of_error(error)) + "\n" : fmt::format("flambeau: {}\n", error.what());
  [[maybe_unused]] const ssize_t written =
      write(common.json ? STDOUT_FILENO : STDERR_FILENO, text.data(), text.size());
  _exit(kExitError);
}

Error beyond_memory(const CommonOptions& common) {
  return {ErrorCode::kLimit,
          fmt::format("it needs more memory than the {} it was given", human_bytes(common.memory_limit)),
          "give it more: --memory-limit"};
}

}  // namespace

Supervisor::Supervisor(const CommonOptions& common)
    : common_(common),
      work_({.cancel = &cancel_, .seconds = common.time_limit, .bytes = common.memory_limit, .look = [this] {
               throw_beyond_memory();
             }}) {
  catch_interrupts();
  thread_ = std::thread([this] { supervise(); });
}

Supervisor::~Supervisor() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Supervisor::throw_beyond_memory() const {
  if (is_beyond_memory_.load(std::memory_order_relaxed)) throw beyond_memory(common_);
}

void Supervisor::supervise() {
  const auto started = Clock::now();
  std::optional<Clock::time_point> asked;
  std::optional<Error> reason;
  const auto ask = [&](Error error) {
    if (asked) return;
    asked = Clock::now();
    reason = std::move(error);
  };
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenLooks, [&] { return is_done_; })) {
    const auto now = Clock::now();
    if (was_interrupted()) {
      cancel_ = true;
      ask({ErrorCode::kCancelled, "stopped on request"});
    }
    if (common_.time_limit > 0 && now - started > std::chrono::duration<double>(common_.time_limit)) {
      ask({ErrorCode::kLimit, fmt::format("it takes longer than the {} s it was given", common_.time_limit),
           "give it more: --time-limit"});
    }
    if (common_.memory_limit > 0 && own_memory() > common_.memory_limit) {
      is_beyond_memory_ = true;
      ask(beyond_memory(common_));
    }
    if (asked && now - *asked > kPatience) end_process(*reason, common_);
  }
}

}  // namespace flambeau::cli
