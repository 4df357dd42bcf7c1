// Where a run's time goes, by node or step.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

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
  };

  void add(size_t index, std::chrono::nanoseconds time) {
    if (index >= entries.size()) entries.resize(index + 1);
    ++entries[index].calls;
    entries[index].time += time;
  }

  void set_work(size_t index, uint64_t bytes, uint64_t flops) {
    entries[index].bytes = bytes;
    entries[index].flops = flops;
  }

  std::vector<Entry> entries;
};

}  // namespace flambeau::runtime
