// Running programs: load a .pt2, look at what it takes and gives, run it; and calling single operators.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/base/files/mapping.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/runtime/program.h"

namespace flambeau {

using graph::Leaf;
using graph::LeafKind;
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
Program load(const std::string& path, LoadOptions options = {});
Program load(std::shared_ptr<Mapping> bytes, LoadOptions options = {});

// The inputs the program was exported with, as Program::run takes them; copies, so that a run may write to
// them. Nothing in the file is executed. Throws Error(kNotFound) where the file has none,
// Error(kUnsupported) for objects that only Python knows, Error(kCorrupt) for damage.
std::vector<Value> example_inputs(const Program& program);
bool has_example_inputs(const Program& program);

}  // namespace flambeau
