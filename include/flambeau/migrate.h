// From TorchScript to an exported program: a method of a script module, run once under the tracer with
// example arguments, becomes a program that PyTorch loads and runs. Nothing of PyTorch and no source is
// needed.
//
//   script::ScriptModule module = script::load_script("model.pt");
//   Migration made = migrate(module, {x}, {}, {.dynamic = {{"x", {{0, Dim("batch")}}}}});
//   save_program(std::move(made.program), "model.pt2");
#pragma once

#include <cstdint>
#include <optional>
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
  // The same attributes become arguments of the program, by name, and it gives (what the method gives, {name:
  // what they are then}): whoever runs it keeps them.
  bool changes_as_arguments = false;
  // Sizes are as free as PyTorch's own export would have them, no freer.
  bool is_like_pytorch = false;
};

// What became of the script on the way. Each is a text with the place in the script.
struct Migration {
  ExportedProgram program;
  std::vector<std::string> notes;        // what the program relies on: elements that the script looked at
  std::vector<std::string> specialized;  // sizes that are fixed as in the example
  std::vector<std::string> unrolled;     // lines that ran more than once, and are in the program as often
  // Of the integers that tensors go through: results may differ by it, since a sum is rounded elsewhere. 0
  // where nothing is quantized.
  double quantization_step = 0;
  // With changes_as_arguments: what such an attribute is called as an argument, where it is in the module,
  // and what it was.
  struct Kept {
    std::string argument;  // "layer1_count"
    std::string path;      // "layer1.count"
    script::IValue value;
  };
  std::vector<Kept> kept;
};

// The module is as before afterwards; the arguments become the program's example inputs. Throws Error with
// the line of the script, the reason and a remedy for what a program cannot say.
Migration migrate(const script::ScriptModule& module, const std::vector<script::IValue>& arguments,
                  const script::ScriptModule::Keywords& keywords = {}, const MigrateOptions& options = {});

// Arguments that the file itself has for a method: of the sizes that it was traced with, or bundled with it
// for mobile phones. Nothing where it has none.
struct FileExample {
  std::vector<script::IValue> arguments;
  std::string origin;  // "bundled with the module"
};
std::optional<FileExample> file_example(const script::ScriptModule& module, const std::string& method,
                                        uint64_t seed = 0);

// Of a method, without the module: what it calls its arguments.
std::vector<std::string> argument_names(const script::ScriptModule& module, const std::string& method);

// A run of the script beside one of the program.
struct MigrationCheck {
  std::string inputs;           // "x: float32[2, 3]"
  std::string difference;       // empty where they are equal, as far as rounding lets them be
  std::string refused;          // why the program does not take these; empty where it does
  std::string outcome() const;  // "equal", for people
};

// Runs both with the example arguments, and for every size that is free in the program with two more (those
// that the script itself refuses are left out). `made` is what migrate() made of the module and these
// arguments. The script runs on a module as it was loaded each time.
std::vector<MigrationCheck> check_migration(const script::ScriptModule& module, const Migration& made,
                                            const std::vector<script::IValue>& arguments,
                                            const script::ScriptModule::Keywords& keywords = {},
                                            const MigrateOptions& options = {});

// All of it for people, as text or as a page of HTML that needs no other file.
struct MigrationStory {
  std::string method;
  const Migration* migration = nullptr;
  const std::vector<MigrationCheck>* checks = nullptr;  // null where nothing was compared
};
enum class ReportForm : uint8_t { kText, kHtml };
std::string migration_report(const std::string& file, const std::vector<MigrationStory>& stories,
                             ReportForm form);

}  // namespace flambeau
