#include "progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "terminal.h"

namespace flambeau::cli {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Control-C ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

ProgressBar::ProgressBar(bool is_quiet)
    : is_shown_(!is_quiet && isatty(STDERR_FILENO) == 1), started_(Clock::now()), drawn_(started_) {}

ProgressBar::~ProgressBar() { erase(); }

void ProgressBar::begin(std::string_view stage, uint64_t total) {
  const std::lock_guard lock(mutex_);
  erase();
  stage_ = stage;
  total_ = total;
  done_ = 0;
  started_ = Clock::now();
}

void ProgressBar::advance(uint64_t amount) {
  done_ += amount;
  if (!is_shown_) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now - started_ < std::chrono::seconds(1) || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  draw();
}

bool was_interrupted() { return interrupted != 0; }

bool ProgressBar::cancelled() const { return was_interrupted(); }

void ProgressBar::draw() {
  constexpr int kWidth = 30;
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  const uint64_t done = done_;
  const std::string speed = human_bytes(static_cast<uint64_t>(static_cast<double>(done) / seconds)) + "/s";
  if (total_ == 0) {
    print_to_stderr("\r\x1b[K{}: {} ({})", stage_, human_bytes(done), speed);
  } else {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    const int filled = static_cast<int>(part * kWidth);
    print_to_stderr("\r\x1b[K{} [{}{}] {:.0f}% {}", stage_, std::string(static_cast<size_t>(filled), '#'),
                    std::string(static_cast<size_t>(kWidth - filled), '.'), part * 100, speed);
  }
  std::fflush(stderr);
  is_drawn_ = true;
}

void ProgressBar::erase() {
  if (!is_drawn_) return;
  print_to_stderr("\r\x1b[K");
  std::fflush(stderr);
  is_drawn_ = false;
}

}  // namespace flambeau::cli
