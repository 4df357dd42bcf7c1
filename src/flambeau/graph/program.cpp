#include "flambeau/graph/program.h"

#include "flambeau/graph/clone.h"

namespace flambeau::graph {
namespace {

std::vector<Argument> clone_all(const std::vector<Argument>& from, Graph& to) {
  std::vector<Argument> copy;
  copy.reserve(from.size());
  for (const Argument& argument : from) copy.push_back(clone(argument, to));
  return copy;
}

}  // namespace

// The old references go before the old graph does.
ExportedProgram& ExportedProgram::operator=(ExportedProgram&& other) noexcept {
  if (this == &other) return *this;
  this->~ExportedProgram();
  new (this) ExportedProgram(std::move(other));
  return *this;
}

const ModuleCallSignature* ExportedProgram::root_call() const {
  for (const ModuleCallEntry& entry : module_call_graph) {
    if (entry.fqn.empty() && entry.signature) return &*entry.signature;
  }
  return nullptr;
}

ExportedProgram ExportedProgram::clone() const {
  ExportedProgram copy;
  copy.graph_ = graph_->clone();
  Graph& to = *copy.graph_;
  for (const InputSpec& spec : signature.inputs) {
    copy.signature.inputs.push_back({spec.kind, graph::clone(spec.argument, to), spec.target, spec.persistent,
                                     spec.value, spec.unknown, spec.extras});
  }
  for (const OutputSpec& spec : signature.outputs) {
    copy.signature.outputs.push_back({spec.kind, graph::clone(spec.argument, to), spec.target,
                                      spec.input ? ValueRef(to.value(spec.input->name())) : ValueRef(),
                                      spec.unknown, spec.extras});
  }
  copy.signature.extras = signature.extras;
  for (const ModuleCallEntry& entry : module_call_graph) {
    ModuleCallEntry& made = copy.module_call_graph.emplace_back();
    made.fqn = entry.fqn;
    made.extras = entry.extras;
    if (!entry.signature) continue;
    made.signature.emplace();
    made.signature->inputs = clone_all(entry.signature->inputs, to);
    made.signature->outputs = clone_all(entry.signature->outputs, to);
    made.signature->in_spec = entry.signature->in_spec;
    made.signature->out_spec = entry.signature->out_spec;
    made.signature->forward_arg_names = entry.signature->forward_arg_names;
    made.signature->extras = entry.signature->extras;
  }
  copy.metadata = metadata;
  copy.named_tuples = named_tuples;
  copy.graph_module_extras = graph_module_extras;
  copy.opset_version = opset_version;
  copy.range_constraints = range_constraints;
  copy.schema_version = schema_version;
  copy.verifiers = verifiers;
  copy.torch_version = torch_version;
  copy.guards_code = guards_code;
  copy.extras = extras;
  copy.style = style;
  copy.has_weights = has_weights;
  copy.state_dict = state_dict;
  copy.constants = constants;
  copy.objects = objects;
  copy.example_inputs = example_inputs;
  return copy;
}

}  // namespace flambeau::graph
