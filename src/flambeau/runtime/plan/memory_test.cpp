#include "flambeau/runtime/plan/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace flambeau::runtime {
namespace {

// A plan of steps that read and write buffers of these sizes: from, to, bytes.
struct Life {
  size_t first;
  size_t last;
  size_t bytes;
};

Plan plan_of_lives(size_t steps, const std::vector<Life>& lives) {
  Plan plan;
  plan.steps.resize(steps);
  for (const Life& life : lives) {
    const std::shared_ptr<Storage> storage = Storage::meta(life.bytes);
    plan.buffer_of.emplace(storage.get(), plan.buffers.size());
    plan.buffers.push_back({.bytes = life.bytes});
    plan.stand_ins.push_back(storage);
    const Tensor tensor = Tensor::contiguous(DType::kUInt8, Dims{static_cast<int64_t>(life.bytes)}, storage);
    plan.steps[life.first].outputs.push_back(tensor);
    if (life.last != life.first) plan.steps[life.last].arguments.emplace_back(tensor);
  }
  return plan;
}

// No two at the same place at the same time; gives the arena's bytes.
size_t place(Plan& plan) {
  place_buffers(plan);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& a = plan.buffers[i];
    EXPECT_EQ(a.offset % 64, 0U);
    EXPECT_LE(a.offset + a.bytes, plan.arena_bytes);
    for (size_t j = 0; j < i; ++j) {
      const Buffer& b = plan.buffers[j];
      const bool at_once = a.first <= b.last && b.first <= a.last;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      EXPECT_FALSE(at_once && overlap) << i << " and " << j;
    }
  }
  return plan.arena_bytes;
}

TEST(Memory, ChainsNeedTwoBuffers) {
  std::vector<Life> lives;
  for (size_t i = 0; i < 20; ++i) lives.push_back({i, i + 1, 1024});
  Plan plan = plan_of_lives(21, lives);
  EXPECT_EQ(place(plan), 2 * 1024U);
}

TEST(Memory, WhatLivesLongLiesBeside) {
  Plan plan = plan_of_lives(4, {{0, 3, 640}, {0, 1, 128}, {1, 2, 128}, {2, 3, 128}});
  EXPECT_EQ(place(plan), 640 + 2 * 128U);
}

TEST(Memory, SmallOnesFillTheGaps) {
  // While the large one waits for its place, two small ones share it.
  Plan plan = plan_of_lives(3, {{0, 0, 256}, {0, 0, 256}, {1, 2, 512}});
  EXPECT_EQ(place(plan), 512U);
}

TEST(Memory, EmptyBuffersHaveAPlaceToo) {
  Plan plan = plan_of_lives(2, {{0, 1, 0}, {0, 1, 0}});
  EXPECT_EQ(place(plan), 128U);
  Plan none = plan_of_lives(1, {});
  EXPECT_EQ(place(none), 0U);
}

TEST(Memory, NoOverlapWhateverTheLives) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const size_t steps = 2 + random() % 60;
    std::vector<Life> lives;
    size_t live_bytes = 0;
    for (size_t i = 0; i < 80; ++i) {
      const size_t first = random() % steps;
      const size_t last = std::min(steps - 1, first + random() % 12);
      lives.push_back({first, last, random() % 5000});
    }
    for (size_t step = 0; step < steps; ++step) {
      size_t now = 0;
      for (const Life& life : lives)
        now += life.first <= step && step <= life.last ? (std::max<size_t>(life.bytes, 1) + 63) / 64 * 64 : 0;
      live_bytes = std::max(live_bytes, now);
    }
    Plan plan = plan_of_lives(steps, lives);
    const size_t taken = place(plan);
    EXPECT_GE(taken, live_bytes);
    EXPECT_LE(taken, live_bytes * 3 / 2) << "near the optimum";
  }
}

}  // namespace
}  // namespace flambeau::runtime
