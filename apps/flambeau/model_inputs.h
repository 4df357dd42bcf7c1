// What run and bench share: opening a program and gathering its inputs.
#pragma once

#include <vector>

#include "commands.h"
#include "flambeau/made_inputs.h"
#include "flambeau/runtime.h"

namespace flambeau::cli {

// `file` is the model's, or the one to compare with.
Program open_program(const std::string& file, const ModelOptions& options, const CommonOptions& common);

// One value for each input: from --input, else from the file's example inputs; random where --size is given.
// Throws Error(kInvalidArgument) that lists what the program takes where one is missing or unknown.
std::vector<Value> gather_inputs(const Program& program, const ModelOptions& options);

// The tensors of a file of weights; "array" for a .npy file.
std::vector<std::pair<std::string, Tensor>> tensors_of_file(const std::string& path);

}  // namespace flambeau::cli
