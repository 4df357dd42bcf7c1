// Which argument of a program each given one is: by position, or by the name that the model's author gave it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/graph/interface.h"

namespace flambeau::graph {

struct BoundArgument {
  const TreeSpec* spec;  // of the interface: how it is nested
  std::string path;      // "args[0]", "kwargs['mask']"
  bool is_keyword;       // whether it was given by name
  size_t index;          // among those given that way
};

// In the order in which their leaves follow each other. A program that takes leaves alone, without the tuple
// and dict of a call, takes them by position. Throws Error(kInvalidArgument) for what is missing, unknown or
// given twice.
std::vector<BoundArgument> bind_call(const Interface& interface, size_t positional,
                                     std::span<const std::string_view> keywords);

}  // namespace flambeau::graph
