#include "flambeau/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/loop_counts.h"

namespace flambeau {
namespace {

// As many threads as a pool is asked for, however few cores there are.
constexpr int kCores = 64;

TEST(Parallel, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads, kCores);
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
  ThreadPool pool(3, kCores);
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
    ThreadPool pool(threads, kCores);
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
  ThreadPool pool(2, kCores);
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
  ThreadPool pool(4, kCores);
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
  ThreadPool pool(3, kCores);
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
  ThreadPool pool(3, kCores);
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
  ThreadPool pool(2, kCores);
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
  ThreadPool pool(4, kCores);
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
    ThreadPool pool(4, kCores);
    if (round % 2 == 0) pool.for_each_range(4, 1, [](size_t, size_t) {});
  }
}

// Every body waits for the others: so many threads are inside at once.
size_t threads_inside(ThreadPool& pool, size_t count, size_t grain) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  pool.for_each_range(count, grain, [&](size_t, size_t) {
    {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  return seen.size();
}

TEST(Parallel, TakesNoMoreThreadsThanItHasGrains) {
  ThreadPool pool(8, kCores);
  for (int round = 0; round < 20; ++round) {
    EXPECT_LE(threads_inside(pool, 3, 1), 3U);
    EXPECT_LE(threads_inside(pool, 299, 100), 2U);
    EXPECT_EQ(threads_inside(pool, 199, 100), 1U);
  }
}

TEST(Parallel, StartsNoMoreThreadsThanThereAreCores) {
  ThreadPool pool(16, 2);
  EXPECT_EQ(pool.threads(), 16);
  for (int round = 0; round < 10; ++round) EXPECT_LE(threads_inside(pool, 64, 1), 2U);
  ThreadPool alone(16, 1);
  EXPECT_EQ(threads_inside(alone, 64, 1), 1U);
}

TEST(Parallel, CutsEvenly) {
  ThreadPool pool(4, kCores);
  for (const size_t count : {4, 8, 10, 12, 17, 100, 1000, 4096}) {
    std::mutex mutex;
    std::vector<size_t> lengths;
    pool.for_each_range(count, 1, [&](size_t begin, size_t end) {
      const std::lock_guard lock(mutex);
      lengths.push_back(end - begin);
    });
    // No more than a sixteenth of the work on top of a fourth.
    const size_t longest = *std::ranges::max_element(lengths);
    const size_t rounds = (lengths.size() + 3) / 4;
    EXPECT_LE(rounds * longest, count / 4 + std::max<size_t>(count / 16, 1)) << count;
  }
}

// Whoever comes late, or has fallen asleep, the work of its share is done by the others.
TEST(Parallel, DoesTheSharesOfThoseWhoAreBusy) {
  ThreadPool pool(4, kCores);
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    while (!is_over) {
      pool.for_each_range(4, 1,
                          [](size_t, size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    }
  });
  for (int round = 0; round < 200; ++round) {
    std::atomic<size_t> sum{0};
    pool.for_each_range(1000, 10, [&](size_t begin, size_t end) { sum += end - begin; });
    ASSERT_EQ(sum, 1000U);
  }
  is_over = true;
  busy.join();
}

// Loops of all lengths and widths with all kinds of pauses between them, from several callers.
TEST(Parallel, SurvivesAnything) {
  ThreadPool pool(6, kCores);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  callers.reserve(3);
  for (unsigned caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      unsigned state = caller + 1;
      const auto random = [&] { return state = state * 1664525 + 1013904223, state >> 16; };
      for (int round = 0; round < 400; ++round) {
        std::vector<int> visits(random() % 300 + 1);
        const size_t fails_at = random() % 8 == 0 ? random() % visits.size() : visits.size();
        bool has_failed = false;
        try {
          pool.for_each_range(visits.size(), random() % 9, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
              ++visits[i];
              if (i == fails_at) throw caller;
            }
          });
        } catch (unsigned who) {
          has_failed = who == caller;
        }
        if (has_failed != (fails_at < visits.size())) ++wrong;
        for (const int count : visits) wrong += has_failed ? count > 1 : count != 1;
        if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 250));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Parallel, CountsWhatItDoesWhereSomebodyAsks) {
  ThreadPool pool(4, kCores);
  LoopCounts counts;
  {
    const LoopCounts::Scope counted(counts);
    pool.for_each_range(8, 8, [](size_t, size_t) {});  // one piece: nobody shares it
    EXPECT_EQ(counts.loops, 0U);
    for (int i = 0; i < 3; ++i) {
      pool.for_each_range(8, 1,
                          [](size_t, size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    }
  }
  EXPECT_EQ(counts.loops, 3U);
  EXPECT_EQ(counts.pieces, 24U);
  EXPECT_EQ(counts.threads, 12U);
  EXPECT_LE(counts.wakes, 9U);
  EXPECT_GE(counts.work, std::chrono::milliseconds(24));
  EXPECT_GE(counts.time, counts.longest);
  EXPECT_GE(counts.imbalance(), 1.0);
  EXPECT_LE(counts.imbalance(), 4.0);
  pool.for_each_range(8, 1, [](size_t, size_t) {});
  EXPECT_EQ(counts.loops, 3U);
}

TEST(Parallel, CostsAreTheLargerOfComputingAndMoving) {
  EXPECT_DOUBLE_EQ((Cost{.operations = 3000, .bytes = 15}).nanoseconds(), 100);
  EXPECT_DOUBLE_EQ((Cost{.operations = 30, .bytes = 1500}).nanoseconds(), 100);
  EXPECT_EQ((Cost{.bytes = 1500}).grain(), static_cast<size_t>(kPieceTime / 100));
  EXPECT_EQ((Cost{.bytes = 1e9}).grain(), 1U);
  EXPECT_GE(Cost().grain(), 1000000U);
}

}  // namespace
}  // namespace flambeau
