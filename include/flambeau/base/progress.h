// How long work reports how far it is, and learns that it should stop. The library never prints: the
// command turns these calls into a bar.
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau {

// Implementations must be safe to call from several threads at once.
class Progress {
 public:
  virtual ~Progress() = default;
  // A new stage: "writing weights", in bytes or any other unit. `total` is 0 when unknown.
  virtual void begin(std::string_view stage, uint64_t total) = 0;
  virtual void advance(uint64_t amount) = 0;
  // When true, the work stops with Error(kCancelled) at the next convenient moment.
  virtual bool cancelled() const { return false; }

  // Says nothing, never cancels.
  static Progress& silent();
};

// Advances, then throws Error(kCancelled) if asked to stop, and what poll_work throws.
void advance_or_cancel(Progress& progress, uint64_t amount);

}  // namespace flambeau
