// Where a run's time goes, by node or step.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/loop_counts.h"

namespace flambeau::runtime {

class Profile {
 public:
  struct Entry {
    std::string node;  // what the program calls it
    std::string op;    // the operator or operators
    uint64_t calls = 0;
    std::chrono::nanoseconds time{0};
    uint64_t bytes = 0;  // read and written by one call
    uint64_t flops = 0;  // of one call; 0 for what only moves numbers
    LoopCounts loops;    // of all calls: how threads shared them
  };

  // Calls `run`, and counts its time and its loops as the entry's.
  template <typename Run>
  void measure(size_t index, Run&& run) {
    if (index >= entries.size()) entries.resize(index + 1);
    LoopCounts loops;
    const auto begin = std::chrono::steady_clock::now();
    {
      const LoopCounts::Scope counted(loops);
      std::forward<Run>(run)();
    }
    Entry& entry = entries[index];
    entry.time += std::chrono::steady_clock::now() - begin;
    ++entry.calls;
    entry.loops += loops;
  }

  void set_work(size_t index, uint64_t bytes, uint64_t flops) {
    entries[index].bytes = bytes;
    entries[index].flops = flops;
  }

  std::vector<Entry> entries;
};

}  // namespace flambeau::runtime
