#include "flambeau/base/work.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "support/message_of.h"

namespace flambeau {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Work, WithoutAScopeNothingIsLimited) {
  EXPECT_EQ(WorkScope::current(), nullptr);
  poll_work();
  require_memory(1000);
  const MemoryCharge charge(uint64_t{1} << 60);
}

TEST(Work, StopsWhenAsked) {
  std::atomic<bool> cancel = false;
  const WorkScope scope({.cancel = &cancel});
  poll_work();
  cancel = true;
  EXPECT_EQ(message_of([] { poll_work(); }), "the run was cancelled");
  const WorkScope inner({.seconds = 1000});
  EXPECT_EQ(message_of([] { poll_work(); }), "the run was cancelled");
}

TEST(Work, StopsWhenItsTimeIsOver) {
  const auto started = Clock::now();
  const WorkScope scope({.seconds = 0.05});
  EXPECT_EQ(message_of([] {
              for (;;) poll_work();
            }),
            "it takes longer than the 0.05 s it was given (give it more time, or smaller inputs)");
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(2));
}

TEST(Work, HelpersStopWithTheirCaller) {
  std::atomic<bool> cancel = false;
  std::atomic<size_t> done = 0;
  ThreadPool pool(3);
  const WorkScope scope({.cancel = &cancel});
  EXPECT_EQ(message_of([&] {
              pool.for_each_range(size_t{1} << 40, 1, [&](size_t begin, size_t end) {
                EXPECT_NE(WorkScope::current(), nullptr);
                if ((done += end - begin) > 10000) cancel = true;
              });
            }),
            "the run was cancelled");
  EXPECT_LT(done, size_t{1} << 30);
}

TEST(Work, WhenOneFailsTheOthersStop) {
  ThreadPool pool(3);
  EXPECT_EQ(message_of([&] {
              pool.for_each_range(3, 1, [](size_t begin, size_t) {
                if (begin == 1) throw Error(ErrorCode::kInvalidArgument, "one");
                for (;;) poll_work();
              });
            }),
            "one");
}

TEST(Work, OneThreadStopsBetweenPieces) {
  std::atomic<bool> cancel = false;
  ThreadPool pool(1);
  const WorkScope scope({.cancel = &cancel});
  size_t pieces = 0;
  EXPECT_EQ(message_of([&] {
              pool.for_each_range(size_t{1} << 60, 1000, [&](size_t, size_t) { cancel = ++pieces == 3; });
            }),
            "the run was cancelled");
  EXPECT_EQ(pieces, 3U);
}

TEST(Work, LooksNowAndThenOnItsOwnThread) {
  const std::thread::id self = std::this_thread::get_id();
  const WorkScope scope({.look = [&] {
    EXPECT_EQ(std::this_thread::get_id(), self);
    throw std::runtime_error("seen");
  }});
  EXPECT_THROW(for (;;) poll_work(), std::runtime_error);
}

TEST(Work, HoldsNoMoreThanItMay) {
  const std::string refused =
      "the run needs more than the 100 bytes of memory it was given (give it more, or smaller inputs)";
  const WorkScope outer({.bytes = 100});
  MemoryCharge first(60);
  EXPECT_EQ(message_of([] { const MemoryCharge second(41); }), refused);
  EXPECT_EQ(message_of([] { require_memory(41); }), refused);
  {
    const WorkScope inner({.bytes = 1000});
    EXPECT_EQ(message_of([] { const MemoryCharge second(41); }), refused);
    const MemoryCharge second(40);
    EXPECT_EQ(message_of([] { ScratchVector<char> scratch(1); }), refused);
  }
  first = MemoryCharge();
  const MemoryCharge all(100);
}

TEST(Work, NobodyGetsMoreThanTheMachineHas) {
  EXPECT_GT(available_memory(), 0U);
  const std::string message = message_of([] { require_memory(uint64_t{1} << 60); });
  EXPECT_EQ(message.find("there is no memory for 1152921504606846976 bytes: "), 0U);
  EXPECT_THROW(ScratchVector<double>(size_t{1} << 58), Error);
}

}  // namespace
}  // namespace flambeau
