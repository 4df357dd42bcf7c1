// flambeau run --run-native-code: a compiled model of PyTorch's compiler, whose code is loaded.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "output_check.h"

namespace flambeau::cli {

struct NativeRun {
  std::string file;
  std::string model;
  std::vector<std::string> inputs;  // in their order, or "NAME=WHAT"
  std::string output;
  std::string check_against;
  Tolerances tolerances;
  uint64_t seed = 0;
};
int run_native(const NativeRun& options, const CommonOptions& common);

}  // namespace flambeau::cli
