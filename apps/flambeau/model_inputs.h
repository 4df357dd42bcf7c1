// What run and bench share: opening a program and gathering its inputs.
#pragma once

#include <algorithm>
#include <vector>

#include "command.h"
#include "flambeau/error.h"
#include "flambeau/made_inputs.h"
#include "flambeau/runtime.h"

namespace flambeau::cli {

// What run and bench open, and with what.
struct ModelOptions {
  std::string file;
  std::string model;
  std::vector<std::string> inputs;     // "NAME=WHAT"
  std::vector<std::string> sizes;      // "s0=8"
  std::vector<std::string> operators;  // shared libraries
  uint64_t seed = 0;
  std::string backend;
  bool no_plan = false;
  bool ignore_guards = false;
  bool cast = false;
};
std::vector<Option> model_options(ModelOptions& options);

// `file` is the model's, or the one to compare with.
// `bytes`: of what was a pipe; else null.
Program open_program(const std::string& file, const ModelOptions& options, const CommonOptions& common,
                     const std::shared_ptr<Mapping>& bytes = nullptr);

// One value for each input: from --input, else from the file's example inputs; random where --size is given.
// Throws Error(kInvalidArgument) that lists what the program takes where one is missing or unknown.
std::vector<Value> gather_inputs(const Program& program, const ModelOptions& options);

// Runs `body`; an Error that leaves it is located at the model, unless another file is at fault.
template <typename Body>
decltype(auto) with_model(const std::string& file, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    const auto is_file = [](const Location& location) { return location.kind == "file"; };
    if (std::ranges::none_of(error.locations(), is_file)) error.add_location("file", file);
    throw;
  }
}

// The tensors of a file of weights; "array" for a .npy file.
std::vector<std::pair<std::string, Tensor>> tensors_of_file(const std::string& path);

}  // namespace flambeau::cli
