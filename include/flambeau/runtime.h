// Running programs: load a .pt2, look at what it takes and gives, run it.
//
//   Program program = load_program("model.pt2");
//   std::puts(program.inputs()[0].to_string().c_str());  // x: float32[s77, 4], 2 <= s77
//   const std::vector<Value> outputs = program.run({x});
//   std::puts(outputs[0].tensor().summary().c_str());
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/runtime/program.h"

namespace flambeau {

class Mapping;

using graph::Leaf;
using graph::LeafKind;
using runtime::Budget;
using runtime::Profile;
using runtime::Program;
using runtime::ProgramOptions;
using runtime::RunOptions;

struct LoadOptions {
  std::string model;  // which one of the package; empty when it has only one
  ProgramOptions program;
};

// Opens a .pt2 (either layout), verifies the program and makes it ready to run. Throws what reading and
// verifying throw, and Error(kUnsupported) that lists operators nobody knows.
Program load_program(const std::string& path, LoadOptions options = {});
Program load_program(std::shared_ptr<Mapping> bytes, LoadOptions options = {});

// The inputs the program was exported with, as Program::run takes them; copies, so that a run may write to
// them. Nothing in the file is executed. Throws Error(kNotFound) where the file has none,
// Error(kUnsupported) for objects that only Python knows, Error(kCorrupt) for damage.
std::vector<Value> example_inputs(const Program& program);
bool has_example_inputs(const Program& program);

}  // namespace flambeau
