// From TorchScript to an exported program: a method of a script module, run once under the tracer with
// example arguments, becomes a program that PyTorch loads and runs. Nothing of PyTorch and no source is
// needed.
//
//   script::ScriptModule module = script::load_script("model.pt");
//   Migration made = migrate(module, {x}, {}, {.dynamic = {{"x", {{0, Dim("batch")}}}}});
//   save_program(std::move(made.program), "model.pt2");
#pragma once

#include <string>
#include <vector>

#include "flambeau/export.h"
#include "flambeau/script.h"

namespace flambeau {

struct MigrateOptions {
  std::string method = "forward";
  DynamicShapes dynamic = {};  // what is not mentioned is as in the example
  uint64_t most_steps = 100'000'000;
  // Attributes that are no tensors may change while the method runs: the program forgets that. Else it is an
  // error.
  bool forgets_changes = false;
};

struct Migration {
  ExportedProgram program;
  std::vector<std::string>
      notes;  // what the program relies on: elements of tensors that the script looked at
};

// The module is as before afterwards; the arguments become the program's example inputs. Throws Error with
// the line of the script, the reason and a remedy for what a program cannot say.
Migration migrate(const script::ScriptModule& module, const std::vector<script::IValue>& arguments,
                  const script::ScriptModule::Keywords& keywords = {}, const MigrateOptions& options = {});

// Of a method, without the module: what it calls its arguments.
std::vector<std::string> argument_names(const script::ScriptModule& module, const std::string& method);

// A run of the script beside one of the program.
struct MigrationCheck {
  std::string inputs;      // "x: float32[2, 3]"
  std::string difference;  // empty where they are equal, as far as rounding lets them be
};

// Runs both with the example arguments, and for every size that is free in the program with two more (those
// that the script itself refuses are left out). `made` is what migrate() made of the module and these
// arguments. The script runs on a module as it was loaded each time.
std::vector<MigrationCheck> check_migration(const script::ScriptModule& module, const ExportedProgram& made,
                                            const std::vector<script::IValue>& arguments,
                                            const script::ScriptModule::Keywords& keywords = {},
                                            const MigrateOptions& options = {});

}  // namespace flambeau
