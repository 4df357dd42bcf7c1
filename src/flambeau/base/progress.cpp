#include "flambeau/base/progress.h"

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"

namespace flambeau {
namespace {

class SilentProgress final : public Progress {
 public:
  void begin(std::string_view, uint64_t) override {}
  void advance(uint64_t) override {}
};

}  // namespace

Progress& Progress::silent() {
  static SilentProgress progress;
  return progress;
}

void advance_or_cancel(Progress& progress, uint64_t amount) {
  progress.advance(amount);
  poll_work();
  if (progress.cancelled()) throw Error(ErrorCode::kCancelled, "stopped on request");
}

}  // namespace flambeau
