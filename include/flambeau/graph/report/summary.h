// What a program is, in a page: inputs and outputs with their shapes, symbols with their ranges, operators,
// modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

// "f32[s0, 3]", "SymInt(s0)", "bool".
std::string type_text(const Value& value);
std::string type_text(const TensorMeta& meta);

struct ProgramSummary {
  struct Port {
    std::string name;    // of the graph's value, or of the argument where it is a constant
    std::string path;    // where it is in the caller's arguments or result: "args[0]['x']"; of what is given
    std::string type;    // "f32[s0, 3]"; the constant where it is one
    std::string effect;  // of outputs: "mutates buffer 'x'"; empty for what is simply given
  };
  struct Symbol {
    std::string name;
    std::string label;  // what the author calls it: "batch"; empty when nobody said
    std::optional<int64_t> min, max;
    std::optional<int64_t> example;  // its value for the example inputs
  };
  struct Module {
    std::string name;  // the first parts of its parameters' names; empty for the model itself
    uint64_t tensors = 0;
    uint64_t elements = 0;
    uint64_t bytes = 0;
  };
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Symbol> symbols;
  std::vector<std::pair<std::string, uint64_t>> operators;  // how often, most used first
  std::vector<Module> modules;                              // of parameters and buffers, in order
  uint64_t nodes = 0;                                       // of all graphs
  uint64_t subgraphs = 0;
  uint64_t parameters = 0, parameter_elements = 0, parameter_bytes = 0;
  uint64_t buffers = 0, buffer_elements = 0, buffer_bytes = 0;
  uint64_t constants = 0, constant_elements = 0, constant_bytes = 0;
};

// `module_depth`: how many parts of a parameter's name make a module.
ProgramSummary summarize(const ExportedProgram& program, size_t module_depth = 1);

}  // namespace flambeau::graph
