#include "flambeau/export.h"

#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/formats/pt2/package.h"

namespace flambeau {

ExportedProgram export_program(nn::Module& module, std::span<const nn::Tree> arguments,
                               const nn::Keywords& keywords, const ExportOptions& options) {
  ExportedProgram program = trace::trace_module(module, arguments, keywords, options);
  std::vector<Value> leaves;
  for (const nn::Tree& tree : arguments) leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  for (const auto& [name, tree] : keywords)
    leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  const TreeSpec spec = parse_treespec(program.root_call()->in_spec);
  program.example_inputs = pt2::write_example_inputs(spec, leaves);
  return program;
}

}  // namespace flambeau
