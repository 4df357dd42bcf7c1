#include "flambeau/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

TEST(Parallel, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const size_t count : {0, 1, 2, 7, 64, 1000, 4097}) {
      for (const size_t grain : {0, 1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> visits(count);
        pool.for_each_range(count, grain, [&](size_t begin, size_t end) {
          ASSERT_LT(begin, end);
          for (size_t i = begin; i < end; ++i) ++visits[i];
        });
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(visits[i], 1) << count << " " << grain << " " << i;
      }
    }
  }
}

TEST(Parallel, CutsNoPieceSmallerThanTheGrainButTheLast) {
  ThreadPool pool(3);
  for (size_t count = 1; count < 200; ++count) {
    for (size_t grain = 1; grain < 20; ++grain) {
      std::mutex mutex;
      std::set<std::pair<size_t, size_t>> pieces;
      pool.for_each_range(count, grain, [&](size_t begin, size_t end) {
        const std::lock_guard lock(mutex);
        pieces.emplace(begin, end);
      });
      for (const auto& [begin, end] : pieces) {
        ASSERT_TRUE(end == count || end - begin >= grain) << count << " " << grain;
      }
    }
  }
}

TEST(Parallel, UsesTheMachineWhenNotTold) { EXPECT_GE(ThreadPool().threads(), 1); }

TEST(Parallel, ThrowsTheFirstErrorAfterAllHaveLeft) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> inside{0};
      try {
        pool.for_each_range(1000, 1, [&](size_t begin, size_t end) {
          ++inside;
          if (begin <= 500 && 500 < end) {
            --inside;
            throw Error(ErrorCode::kCorrupt, "piece with 500");
          }
          --inside;
        });
        FAIL() << "no error";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "piece with 500");
      }
      EXPECT_EQ(inside, 0);
    }
    std::atomic<size_t> sum{0};  // the pool still works
    pool.for_each_range(100, 1, [&](size_t begin, size_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 100U);
  }
}

TEST(Parallel, StopsHandingOutPiecesAfterAnError) {
  ThreadPool pool(2);
  std::atomic<int> started{0};
  EXPECT_THROW(pool.for_each_range(8, 1,
                                   [&](size_t, size_t) {
                                     ++started;
                                     throw std::runtime_error("no");
                                   }),
               std::runtime_error);
  EXPECT_LE(started, 2);
}

TEST(Parallel, RunsInnerLoopsOnTheirOwnThread) {
  ThreadPool pool(4);
  std::atomic<size_t> sum{0};
  pool.for_each_range(20, 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto self = std::this_thread::get_id();
      pool.for_each_range(30, 1, [&](size_t inner_begin, size_t inner_end) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        sum += inner_end - inner_begin;
      });
    }
  });
  EXPECT_EQ(sum, 600U);
}

TEST(Parallel, CarriesErrorsOutOfInnerLoops) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.for_each_range(10, 1,
                                   [&](size_t, size_t) {
                                     pool.for_each_range(10, 1, [](size_t, size_t) {
                                       throw Error(ErrorCode::kLimit, "inner");
                                     });
                                   }),
               Error);
  // An outer loop after that is parallel again, not taken for an inner one.
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 200 && seen.size() < 2; ++round) {
    pool.for_each_range(12, 1, [&](size_t, size_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_GE(seen.size(), 2U);
}

TEST(Parallel, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  callers.reserve(8);
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        const size_t count = 50 + static_cast<size_t>(caller) * 13;
        std::vector<size_t> values(count);
        const bool throws = round % 10 == 9;
        try {
          pool.for_each_range(count, 4, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) values[i] = i;
            if (throws && begin == 0) throw caller;
          });
          if (throws) ++wrong;
          if (std::accumulate(values.begin(), values.end(), size_t{0}) != count * (count - 1) / 2) ++wrong;
        } catch (int who) {
          if (who != caller || !throws) ++wrong;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// More than there is room for: the others work alone.
TEST(Parallel, ServesVeryManyCallersAtOnce) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  callers.reserve(40);
  std::atomic<int> inside{0};
  std::atomic<size_t> sum{0};
  for (int caller = 0; caller < 40; ++caller) {
    callers.emplace_back([&] {
      ++inside;
      while (inside < 40) std::this_thread::yield();
      for (int round = 0; round < 20; ++round) {
        pool.for_each_range(64, 1, [&](size_t begin, size_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 40U * 20 * 64);
}

// Helpers that fell asleep in between, and ones that did not yet.
TEST(Parallel, WakesHelpersAfterAnyPause) {
  ThreadPool pool(4);
  for (const int microseconds : {0, 10, 90, 110, 300, 2000}) {
    for (int round = 0; round < 50; ++round) {
      std::atomic<size_t> sum{0};
      pool.for_each_range(16, 1, [&](size_t begin, size_t end) { sum += end - begin; });
      ASSERT_EQ(sum, 16U);
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    }
  }
}

TEST(Parallel, PoolsComeAndGo) {
  for (int round = 0; round < 100; ++round) {
    ThreadPool pool(4);
    if (round % 2 == 0) pool.for_each_range(4, 1, [](size_t, size_t) {});
  }
}

}  // namespace
}  // namespace flambeau
