// Programs as text: the one that PyTorch prints, and one that says everything and can be parsed again.
#pragma once

#include <string>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

struct TextOptions {
  // Adds, in comments that begin with "#|" and in sections behind, all that PyTorch's text leaves out:
  // parse_text() makes the same program of it. Without it the text is what PyTorch prints.
  bool lossless = false;
  // As in PyTorch's print_readable(include_stride=True, include_device=True); the lossless form has them
  // where they are not the usual ones.
  bool strides = false;
  bool devices = false;
};

// str() of the program that torch.export.load makes of the same file, whatever its state: values that nothing
// gives appear by their names. docs/text_form.md describes the lossless form. Weights are in neither.
std::string to_text(const ExportedProgram& program, const TextOptions& options = {});

}  // namespace flambeau::graph
