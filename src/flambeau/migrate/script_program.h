// A method of a script module becomes an exported program: the script runs once, under the tracer. Its
// numbers, texts, lists, classes and branches are followed and vanish; what it does with tensors is written
// down.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/shapes/dynamic_shapes.h"

namespace flambeau::ops {
class Library;
}

namespace flambeau::migration {

using script::IValue;

struct ScriptCall {
  std::shared_ptr<const script::Unit> unit;
  std::shared_ptr<const ops::Library> library;
  IValue object;
  std::string method;
  std::vector<IValue> positional;
  std::vector<std::pair<std::string, IValue>> keywords;
};

// Texts with the place in the script.
struct Story {
  std::vector<std::string> notes;        // what the program relies on
  std::vector<std::string> specialized;  // sizes that are fixed
  std::vector<std::string> unrolled;     // what ran more than once
  double quantization_step = 0;          // the largest on the way
  // Tensors of the module that the method puts others of another size or type in the place of: an error,
  // after which one may let it do that first.
  std::vector<std::string> resized;
  // Attributes that became arguments and results: what they are called there, where they are, and what they
  // were.
  struct Kept {
    std::string argument;  // "layer1_count"
    std::string path;      // "layer1.count"
    IValue value;
  };
  std::vector<Kept> kept;
};

struct TraceOptions {
  trace::DynamicShapes dynamic = {};
  uint64_t most_steps = 0;  // 0 for no bound
  // Attributes that are no tensors may change: every run of the program begins as the file does.
  bool forgets_changes = false;
  // The same attributes become arguments by name; the result is (what the method gives, {name: what they are
  // then}).
  bool changes_as_arguments = false;
  bool is_like_pytorch = false;  // as trace::ExportOptions
};

// The module is as before afterwards. `story`: what became of the script, for people. Throws Error with the
// script's line, a reason and a remedy for what no program can say.
graph::ExportedProgram trace_script(const ScriptCall& call, const TraceOptions& options, Story& story);

}  // namespace flambeau::migration
