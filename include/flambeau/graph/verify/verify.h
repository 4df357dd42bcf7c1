// Whether a program keeps the promises that PyTorch's loader, verifier and canonical form rely on, and all
// code of ours after loading: everything that is wrong with it, not only the first thing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flambeau {
class SchemaTable;
}

namespace flambeau::graph {

class ExportedProgram;

// One thing that is wrong. docs/verifier.md lists the rules.
struct Finding {
  std::string rule;     // stable: "undefined-value"
  std::string where;    // "subgraph 'true_graph_0': node 'sin'", "signature: input 3 ('p_weight')"
  std::string message;  // what was found, what was expected; without a final period
  std::string remedy;   // what a person can do now

  // "node 'sin': the value 'x' is used but nothing gives it [undefined-value] (remedy)".
  std::string to_string() const;
};

// Which operators a program may consist of.
enum class Dialect : uint8_t {
  kAuto,      // what the program's own list of verifiers says
  kTraining,  // everything
  kAten,      // operators that change no argument
  kCoreAten,  // of PyTorch's own operators the core set only
  kEdge,      // as kCoreAten, and no bare number where an operator takes a tensor
};

struct VerifyOptions {
  Dialect dialect = Dialect::kAuto;
  // PyTorch's operators and those the caller added; null for PyTorch's own. Operators of a namespace that is
  // not PyTorch's need no schema: without one their arguments are not checked.
  const SchemaTable* schemas = nullptr;
  // Names of higher-order operators that the caller's PyTorch has besides the usual ones: "my_loop".
  std::vector<std::string> higher_order_operators = {};
  // Then one last finding, "more-findings", says how many more there are.
  size_t most_findings = 100;
};

// Empty when all is well. Takes time linear in the size of the program.
std::vector<Finding> verify(const ExportedProgram& program, const VerifyOptions& options = {});

// Throws Error(kCorrupt) with the words of the first finding, and how many more there are.
void require_valid(const ExportedProgram& program, const VerifyOptions& options = {});

}  // namespace flambeau::graph
