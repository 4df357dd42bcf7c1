// What the parts of the verifier share: the program, what it may contain, the place they look at, and the
// list of findings. Internal to the verifier.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/graph/verify/expression.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::graph::verifying {

// The remedy where a program contradicts itself.
constexpr std::string_view kExportAgain =
    "the file is damaged or its writer is wrong: export the program again";

constexpr std::string_view kNameRemedy = "names have letters, digits and underscores: do not load this file";

// One graph and how it was reached. A chain rather than a text, so that deep nesting costs nothing until
// something is found.
struct Scope {
  const Graph* graph = nullptr;
  const Scope* outer = nullptr;  // null for the program's own graph
  std::string_view name;         // of the subgraph
};

// "subgraph 'body': node 'add'". The text is made only for a finding.
struct Place {
  const Scope* scope = nullptr;
  const Node* node = nullptr;
  std::string_view what = {};  // "graph input 2", when there is no node
  std::string to_string() const;
};

// What a node calls; made once for each different target.
struct Callee {
  enum class Kind : uint8_t {
    kOperator,     // with a schema
    kCustom,       // an operator without one
    kFunction,     // of Python: "_operator.add"
    kHigherOrder,  // takes graphs or operators
    kWrong,        // the finding below holds for every node that calls it
  };
  Kind kind = Kind::kCustom;
  const OperatorEntry* entry = nullptr;
  Finding wrong;
};

class Context {
 public:
  Context(const ExportedProgram& program, const VerifyOptions& options, const SchemaTable& schemas);

  const ExportedProgram& program;
  const SchemaTable& schemas;
  const VerifyOptions& options;
  Dialect dialect;

  void add(std::string_view rule, std::string where, std::string message, std::string_view remedy = {});
  void add(std::string_view rule, const Place& place, std::string message, std::string_view remedy = {}) {
    add(rule, place.to_string(), std::move(message), remedy);
  }
  std::vector<Finding> take_findings();

  const Callee& callee(const Target& target);
  // Of an argument that names an operator.
  const Callee& callee(const std::string& target);
  // Programs name the same few expressions everywhere; the reader shares them.
  const Expression& expression(const SymExpr& expr);
  // A name that no graph gives may be an object or constant of the archive.
  bool may_be_constant(std::string_view name) const;

 private:
  Callee resolve(const Target& target) const;

  std::vector<Finding> findings_;
  size_t left_out_ = 0;
  std::unordered_map<std::string_view, Callee> callees_;  // by the target, as the program has it
  std::unordered_map<const SymExpr*, Expression> expressions_;
  std::unordered_set<std::string_view> constants_;
};

// ---- the parts, in the order in which they run

// Names, definitions, uses and descriptions of all graphs, and the nodes in them.
void verify_graphs(Context& context);
// The symbols of a graph that stand for something only known when the program runs, and whether a value says
// what. In order of name, so that findings have a stable order.
using Symbols = std::map<std::string_view, bool>;
// What the graph says of one value; notes its symbols.
void verify_meta(Context& context, const Scope& scope, const Value& value, Symbols& symbols);
void verify_symbols(Context& context, const Scope& scope, const Symbols& symbols);
// What one node calls, and with what.
void verify_node(Context& context, const Place& place, const Node& node, const Callee& callee);
void verify_call(Context& context, const Place& place, const Node& node, const Schema& schema);
void verify_function(Context& context, const Place& place, const Node& node, std::string_view name);
void verify_higher_order(Context& context, const Place& place, const Node& node, const HigherOrder& form);
void verify_node_metadata(Context& context, const Place& place, const Node& node);
void verify_signature(Context& context);
void verify_weights(Context& context);
void verify_module_calls(Context& context);
// Names of parameters, arguments and keys that PyTorch writes into source code or imports.
void verify_names(Context& context);
// Ranges, guards, versions, dialects.
void verify_header(Context& context);

// Whether PyTorch has a function of that name that a program may call.
bool is_function(std::string_view name);
// How many values a list argument holds; nothing for an argument that is no list.
std::optional<size_t> list_length(const Argument& argument);
// "as_tensor", or "a kind of a newer schema".
std::string_view kind_words(const Argument& argument);

}  // namespace flambeau::graph::verifying
