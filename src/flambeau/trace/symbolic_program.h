// A program's own description of its values, as things to trace with: its symbols, tensors without data, the
// constants of its nodes.
#pragma once

#include "flambeau/graph/program.h"
#include "flambeau/shapes/shape_env.h"

namespace flambeau::trace {

class SymbolicProgram {
 public:
  // Every symbol that a description mentions joins the trace, with the value it had for the example and the
  // program's constraints. Throws Error(kCorrupt) for text that is no expression.
  SymbolicProgram(const graph::ExportedProgram& program, ShapeEnv& env);

  symbolic::SymInt number(const graph::SymInt& number) const;
  // A tensor without data.
  Tensor tensor(const graph::TensorMeta& meta) const;

 private:
  ShapeEnv& env_;
};

}  // namespace flambeau::trace
