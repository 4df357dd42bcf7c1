// How modules were called: names that exist, and trees with as many leaves as there are values.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"
#include "flambeau/value/pytree.h"

namespace flambeau::graph::verifying {
namespace {

class ModuleCallVerifier {
 public:
  explicit ModuleCallVerifier(Context& context) : context_(context), program_(context.program) {}

  void run() {
    const auto& entries = program_.module_call_graph;
    if (entries.empty() || !entries[0].fqn.empty() || !entries[0].signature) {
      context_.add(
          "module-call-root", "module call graph",
          entries.empty()
              ? std::string("it is empty; expected an entry '' for the program itself")
              : fmt::format("its first entry is '{}'{}; expected '' with a signature, for "
                            "the program itself",
                            printable(entries[0].fqn), entries[0].signature ? "" : " without a signature"),
          kExportAgain);
    }
    for (const ModuleCallEntry& entry : entries) {
      if (!entry.signature) continue;
      where_ = fmt::format("module call '{}'", printable(entry.fqn));
      check_names(entry.signature->inputs, "input");
      check_names(entry.signature->outputs, "output");
      const bool is_root = entry.fqn.empty();
      check_tree("in_spec", entry.signature->in_spec,
                 is_root ? count_user_inputs() : entry.signature->inputs.size());
      check_tree("out_spec", entry.signature->out_spec,
                 is_root ? count_user_outputs() : entry.signature->outputs.size());
    }
  }

 private:
  void check_names(const std::vector<Argument>& arguments, std::string_view what) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      arguments[i].for_each_value([&](const Value& value) {
        if (value.is_defined() || is_node(value.name())) return;
        if (arguments[i].is(ArgumentKind::kCustomObj) && context_.may_be_constant(value.name())) return;
        context_.add(
            "module-call-name", where_,
            fmt::format("its {} {} is '{}', which the graph does not have", what, i, printable(value.name())),
            kExportAgain);
      });
    }
  }

  // PyTorch also knows nodes that give several values by their own name.
  bool is_node(std::string_view name) {
    if (nodes_.empty()) {
      for (const Node& node : program_.graph().nodes()) {
        if (node.name) nodes_.insert(*node.name);
      }
      nodes_.insert("output");
    }
    return nodes_.contains(name);
  }

  size_t count_user_inputs() const {
    size_t count = 0;
    for (const InputSpec& spec : program_.signature.inputs)
      count += spec.kind == InputKind::kUserInput || spec.kind == InputKind::kConstantInput;
    return count;
  }
  size_t count_user_outputs() const {
    size_t count = 0;
    for (const OutputSpec& spec : program_.signature.outputs)
      count += spec.kind == OutputKind::kUserOutput || spec.kind == OutputKind::kLossOutput;
    return count;
  }

  void check_tree(std::string_view what, const std::string& text, size_t expected) {
    size_t leaves = 0;
    try {
      leaves = parse_treespec(text).num_leaves();
    } catch (const Error& error) {
      context_.add("module-call-tree", where_, fmt::format("its {} is no tree: {}", what, error.message()),
                   kExportAgain);
      return;
    }
    // One leaf of the tree may stand for several values: a tensor of a class that holds others.
    if (leaves == expected || (leaves != 0 && leaves < expected)) return;
    context_.add("module-call-tree", where_,
                 fmt::format("its {} has {} leaves, but there are {} {}", what, leaves, expected,
                             what == "in_spec" ? "inputs" : "outputs"),
                 kExportAgain);
  }

  Context& context_;
  const ExportedProgram& program_;
  std::string where_;
  std::unordered_set<std::string_view> nodes_;
};

}  // namespace

void verify_module_calls(Context& context) { ModuleCallVerifier(context).run(); }

}  // namespace flambeau::graph::verifying
