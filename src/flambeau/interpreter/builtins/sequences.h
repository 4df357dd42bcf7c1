// What strings and lists have in common: places counted from either end, slices, and room asked for first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace flambeau::interpreter {

// The place that a script's index means, counted from the end when negative; it may be outside.
inline int64_t place_of(int64_t index, size_t size) {
  return index < 0 ? index + static_cast<int64_t>(size) : index;
}

// Which places a slice takes.
struct Slice {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};
// As Python's slices are. Throws Error(kInvalidArgument) for a step of zero.
Slice slice_of(size_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);

// Before making something of `count` pieces of `size` bytes. Throws Error(kLimit).
void require_room(uint64_t count, uint64_t size = 1);

}  // namespace flambeau::interpreter
