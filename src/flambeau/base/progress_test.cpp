#include "flambeau/base/progress.h"

#include <gtest/gtest.h>

#include <string>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

class Recorder final : public Progress {
 public:
  void begin(std::string_view stage, uint64_t total) override {
    stage_ = stage;
    total_ = total;
  }
  void advance(uint64_t amount) override { done_ += amount; }
  bool cancelled() const override { return done_ >= stop_at_; }

  std::string stage_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  uint64_t stop_at_ = ~0ULL;
};

TEST(Progress, AdvancesAndStopsOnRequest) {
  Recorder recorder;
  recorder.begin("writing weights", 10);
  recorder.stop_at_ = 7;
  advance_or_cancel(recorder, 4);
  try {
    advance_or_cancel(recorder, 4);
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    EXPECT_STREQ(error.what(), "stopped on request");
  }
  EXPECT_EQ(recorder.done_, 8U) << "what was done is counted even when it is the last";
}

TEST(Progress, SilentOneNeverStops) {
  Progress::silent().begin("anything", 0);
  advance_or_cancel(Progress::silent(), 1ULL << 63);
  EXPECT_FALSE(Progress::silent().cancelled());
}

}  // namespace
}  // namespace flambeau
