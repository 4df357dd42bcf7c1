// Who has which name in a graph.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script::ir {

struct Graph::Names {
  std::unordered_map<std::string, Value*> owners;
  // By the name without its number: the next one is larger.
  std::unordered_map<std::string, int64_t> last_numbers;
};

}  // namespace flambeau::script::ir
