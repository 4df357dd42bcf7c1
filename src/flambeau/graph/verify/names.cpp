// Names that PyTorch writes into source code when it makes a module of the program, besides those of values.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"
#include "flambeau/value/pytree.h"

namespace flambeau::graph::verifying {
namespace {

class NameVerifier {
 public:
  explicit NameVerifier(Context& context) : context_(context), program_(context.program) {}

  void run() {
    for (const InputSpec& spec : program_.signature.inputs) path("signature", spec.target);
    for (const OutputSpec& spec : program_.signature.outputs) path("signature", spec.target);
    for (const Weight& weight : program_.state_dict) path("state dict", weight.name);
    for (const Weight& weight : program_.constants) path("constants", weight.name);
    for (const NamedObject& object : program_.objects) path("constants", object.name);
    for (const ExportedProgram::NamedTupleDef& tuple : program_.named_tuples) {
      for (const std::string& field : tuple.fields) name("named tuples", "a field", field);
    }
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      path("module call graph", entry.fqn);
      if (entry.signature) arguments(*entry.signature, entry.fqn.empty());
    }
  }

 private:
  void add(std::string_view where, std::string_view text, std::string_view what) {
    context_.add(
        "unsafe-name", std::string(where),
        fmt::format("'{}' is no name for {}: PyTorch would run it as code", printable(text, 200), what),
        kNameRemedy);
  }

  void name(std::string_view where, std::string_view what, std::string_view text) {
    if (!is_python_name(text)) add(where, text, what);
  }

  // "layers.0.weight": parts that are no names come to stand in quotes.
  void path(std::string_view where, std::string_view text) {
    const auto ends_quotes = [](char c) {
      return c == '"' || c == '\'' || c == '\\' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    };
    if (std::ranges::any_of(text, ends_quotes)) add(where, text, "a parameter, buffer, constant or module");
  }

  void arguments(const ModuleCallSignature& signature, bool is_root) {
    if (signature.forward_arg_names) {
      for (const std::string& argument : *signature.forward_arg_names)
        name("module call graph", "an argument", argument);
    }
    if (!is_root) return;
    try {
      const TreeSpec spec = parse_treespec(signature.in_spec);
      if (spec.children().size() != 2) return;
      for (const json::Value& key : spec.child(1).keys()) {
        if (key.is_string()) {
          name("module call graph", "an argument", key.as_string());
        } else {
          add("module call graph", json::dump(key), "an argument");
        }
      }
    } catch (const Error&) {
      return;  // what is no tree is found where trees are read
    }
  }

  Context& context_;
  const ExportedProgram& program_;
};

}  // namespace

void verify_names(Context& context) { NameVerifier(context).run(); }

}  // namespace flambeau::graph::verifying
