// A short picture of what a pickle holds: containers, sizes, small values; tensors by their summary.
#pragma once

#include <string>
#include <vector>

#include "flambeau/formats/checkpoint.h"

namespace flambeau {

struct OutlineLine {
  int depth;
  std::string key;          // empty for the root
  std::string description;  // "dict of 3", "float32[2, 3]", "5", "'adam'"
};

struct OutlineLimits {
  int depth = 4;
  size_t children = 24;  // shown per container; the rest is counted
  size_t lines = 400;
};

// Names appear as they are in the file, made printable. Never fails; what is cut is said in a line.
std::vector<OutlineLine> outline(const Checkpoint& checkpoint, const OutlineLimits& limits = {});
// The same for a tree without tensors.
std::vector<OutlineLine> outline(const pickle::Tree& tree, const OutlineLimits& limits = {});

}  // namespace flambeau
