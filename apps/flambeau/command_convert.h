// What flambeau convert takes, whether the files hold weights or programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command.h"

namespace flambeau::cli {

struct ConvertCommandOptions {
  std::string input;
  std::string output;
  std::string dtype;
  std::string format;
  std::vector<std::string> filters;
  uint64_t shard_size = 0;  // bytes; 0: one file
  // Of programs.
  std::string layout;
  std::string schema;
  bool simplify = false;
  std::string model;
  // Of TorchScript.
  bool script = false;        // write a module, whatever the output is called
  bool weights_only = false;  // write its tensors, whatever it is called
  std::vector<std::string> methods;
  bool freeze = false;
  std::string mobile_version;
  bool bytecode_only = false;  // of a flatbuffer
  std::string weights;
};

int convert_program(const ConvertCommandOptions& options, const CommonOptions& common);

}  // namespace flambeau::cli
