// Changes of a program that leave what it computes as it is.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flambeau::graph {
class ExportedProgram;
}
namespace flambeau::ops {
class Library;
}

namespace flambeau::passes {

// Whether something changed. Operators that the library does not know are left alone, and so is all they may
// write to.
using Pass = bool (*)(graph::ExportedProgram& program, const ops::Library& library);

// Nodes whose results nobody uses and that do nothing else.
bool remove_dead_nodes(graph::ExportedProgram& program, const ops::Library& library);
// Nodes that call the same with the same: the first one's results serve for all. (Common subexpressions.)
bool merge_equal_nodes(graph::ExportedProgram& program, const ops::Library& library);
// Numbers that are described by the same expression: sizes are asked for once, of the first value that has
// them; those that are known become literals.
bool merge_equal_sizes(graph::ExportedProgram& program, const ops::Library& library);
// What depends on nothing but constants and weights that no run changes is computed now, and becomes a
// constant of the program. Views of weights stay, and so do results larger than what they are made of: those
// are cheaper to make again than to store.
bool fold_constants(graph::ExportedProgram& program, const ops::Library& library);

struct NamedPass {
  std::string_view name;
  Pass run;
  std::string_view summary;
};
// In the order in which they are worth running.
std::span<const NamedPass> all_passes();
// Throws Error(kNotFound) that lists the names.
const NamedPass& find_pass(std::string_view name);
// All of them, until none changes anything.
bool simplify(graph::ExportedProgram& program, const ops::Library& library);

}  // namespace flambeau::passes
