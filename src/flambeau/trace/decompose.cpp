#include "flambeau/trace/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/graph/dead_nodes.h"
#include "flambeau/graph/values.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/shapes/symbol_name.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/functionalize.h"
#include "flambeau/trace/higher_order.h"
#include "flambeau/trace/replay.h"
#include "flambeau/trace/symbolic_program.h"
#include "flambeau/trace/traced_symbols.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::InputKind;
using graph::OutputKind;

// Takes calls apart until only those are left that the table does not know, and has them recorded.
class Decomposer final : public ops::Interceptor {
 public:
  Decomposer(const DecompositionTable& table, Tracer& tracer, bool& quiet) : table_(table), tracer_(tracer) {
    is_quiet = &quiet;
  }

  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override {
    std::vector<Value> results = table_.take_apart(context, op, arguments, ops::Level::kCore);
    if (!results.empty()) return results;
    return tracer_.call(context, op, arguments);
  }

 private:
  const DecompositionTable& table_;
  Tracer& tracer_;
};

DecompositionTable table_of(const DecompositionOptions& options, const ops::Library& library) {
  DecompositionTable table;
  for (const std::string& name : options.keep) {
    const ops::Operator& op = library.get(name);
    if (op.schema.is_mutable() || op.schema.is_view()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} cannot be kept: it writes or gives a view", name),
                  "keep only operators that give something of their own");
    }
    table.keep(op);
  }
  for (const auto& [name, decomposition] : options.table) table.set(library.get(name), decomposition);
  return table;
}

// The functions of a graph inside another one write it down where the tracer says.
class FlowOnly final : public nn::Observer {
 public:
  explicit FlowOnly(nn::ControlFlow& flow) : flow_(flow) {}
  void enter(const nn::Module&, const std::function<nn::Tree()>&) override {}
  void leave(const nn::Module&, const std::function<nn::Tree()>&) override {}
  nn::ControlFlow* control_flow() override { return &flow_; }

 private:
  nn::ControlFlow& flow_;
};

class Retracer final : public Replay {
  using Inputs = std::vector<std::pair<std::string, Tensor>>;

 public:
  Retracer(const graph::ExportedProgram& program, const DecompositionOptions& options)
      : program_(program),
        library_(options.library ? options.library : std::make_shared<const ops::Library>()),
        table_(table_of(options, *library_)),
        symbols_(program, env_),
        tracer_(made_.graph(), env_),
        decomposer_(table_, tracer_, env_.is_quiet),
        inner_(*library_, pool_),
        functionalizer_(inner_, table_, env_.is_quiet),
        outer_(*library_, pool_),
        flow_(env_) {
    inner_.interceptor = &decomposer_;
    outer_.interceptor = &functionalizer_;
    env_.tracer = &tracer_;
    tracer_.metadata = [this] { return metadata_; };
    tracer_.lift = [](const Tensor& tensor) -> graph::Value& {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("a decomposition uses a tensor {} of its own", tensor.summary()));
    };
  }

  graph::ExportedProgram run() {
    const std::vector<Value> inputs = add_inputs();
    std::vector<runtime::MissingOperator> missing;  // said at the node that calls one
    const std::unique_ptr<runtime::Code> code = runtime::lower(program_.graph(), *library_, missing);
    runtime::Interpreter interpreter(outer_, nullptr, *this);
    interpreter.on_node = [this](const graph::Node& node) { metadata_ = node.metadata; };
    std::vector<Value> outputs = interpreter.run(*code, inputs);
    metadata_.clear();
    add_outputs(inputs, std::move(outputs));
    tracer_.finish();  // knows every value, so it comes before some of them go
    drop_copies_into_state();
    // What is written is among the outputs by now.
    graph::remove_unused_nodes(made_.graph(),
                               [](const graph::Node& node) { return !node.outputs().empty(); });
    copy_rest();
    return std::move(made_);
  }

 private:
  // What the program is called with, in the order of its graph's inputs.
  std::vector<Value> add_inputs() {
    std::vector<Value> given;
    Inputs tensors;
    for (const Argument& input : program_.graph().inputs()) {
      const graph::Value* const value = input.value();
      if (value == nullptr) {
        made_.graph().add_input(tracer_.argument(graph::to_value(input, {})));
        given.emplace_back();
      } else if (const graph::TensorMeta* const meta = value->tensor()) {
        const Tensor inside = symbols_.tensor(*meta);
        tracer_.add_input(value->name(), inside);
        given.emplace_back(functionalizer_.wrap(inside));
        tensors.emplace_back(value->name(), inside);
      } else if (const auto* const number = std::get_if<graph::SymInt>(&value->meta())) {
        const SymInt inside = symbols_.number(*number);
        tracer_.add_number_input(value->name(), inside.expr());
        given.emplace_back(inside);
      } else {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the input '{}' is neither a tensor nor a number", printable(value->name())));
      }
    }
    bind_symbols(tensors);
    for (const graph::InputSpec& spec : program_.signature.inputs) {
      graph::InputSpec& made = made_.signature.inputs.emplace_back();
      made.kind = spec.kind;
      made.target = spec.target;
      made.persistent = spec.persistent;
      made.value = spec.value;
      made.extras = spec.extras;
      if (const graph::Value* const value = spec.argument.value()) {
        graph::Value& input = *made_.graph().find(value->name());
        made.argument = value->tensor() != nullptr ? Argument::tensor(input) : Argument::sym_int(input);
      } else {
        made.argument = tracer_.argument(graph::to_value(spec.argument, {}));
      }
    }
    return given;
  }

  // A symbol is read from the input it was made for, whose place its name tells; else from the first.
  void bind_symbols(const Inputs& inputs) {
    for (const auto& [name, tensor] : inputs) {
      const ops::Info<SymInt> info = symbolic_info(tensor);
      for (size_t d = 0; d < info.sizes.size(); ++d) {
        if (info.sizes[d].is_literal() || !info.sizes[d].expr().is_symbol()) continue;
        if (is_named_after(info.sizes[d].expr().name(), name, d)) {
          tracer_.bind_symbols(tensor, *tracer_.find(tensor));
          break;
        }
      }
    }
    for (const auto& [name, tensor] : inputs) tracer_.bind_symbols(tensor, *tracer_.find(tensor));
  }
  static bool is_named_after(std::string_view symbol, const std::string& input, size_t dim) {
    std::vector<std::string> sources = {fmt::format("L['{}'].size()[{}]", input, dim)};
    if (const size_t cut = input.rfind('_'); cut != std::string::npos)
      sources.push_back(
          fmt::format("L['{}'][{}].size()[{}]", input.substr(0, cut), input.substr(cut + 1), dim));
    return std::ranges::any_of(sources, [&](const std::string& source) {
      return symbol == fmt::format("s{}", symbol_number(source));
    });
  }

  Tensor unwrap(const Tensor& tensor) override { return functionalizer_.value(tensor); }
  Tensor wrap(const Tensor& tensor) override { return functionalizer_.wrap(tensor); }

  using Replay::call;
  std::vector<Value> call(runtime::Interpreter& interpreter, runtime::HigherOrderFunction function,
                          const runtime::HigherOrderCall& call) override {
    FlowOnly observer(flow_);
    const nn::Use use(outer_, &observer);
    return Replay::call(interpreter, function, call);
  }

  // A graph inside is taken apart as this one is, for the tracer of its own.
  class Inner final : public Replay {
   public:
    Inner(Retracer& outer, Functionalizer& functionalizer) : outer_(outer), functionalizer_(functionalizer) {}

   protected:
    Tensor unwrap(const Tensor& tensor) override { return functionalizer_.value(tensor); }
    Tensor wrap(const Tensor& tensor) override { return functionalizer_.wrap(tensor); }
    std::vector<Value> run_inner(const runtime::Code& code, std::vector<Value> inputs) override {
      return outer_.run_inner(code, std::move(inputs));
    }

   private:
    Retracer& outer_;
    Functionalizer& functionalizer_;
  };

  std::vector<Value> run_inner(const runtime::Code& code, std::vector<Value> inputs) override {
    Decomposer decomposer(table_, *env_.tracer, env_.is_quiet);
    ops::Context inside(*library_, pool_);
    inside.interceptor = &decomposer;
    Functionalizer functionalizer(inside, table_, env_.is_quiet);
    ops::Context outside(*library_, pool_);
    outside.interceptor = &functionalizer;
    for (Value& input : inputs) input = functionalizer.wrap(input.tensor());
    Inner inner(*this, functionalizer);
    std::vector<Value> outputs = runtime::Interpreter(outside, nullptr, inner).run(code, std::move(inputs));
    for (Value& output : outputs) output = functionalizer.value(output.tensor());
    return outputs;
  }

  graph::OutputSpec& add_output(OutputKind kind, const Value& value) {
    made_.graph().add_output(tracer_.argument(value));
    graph::OutputSpec& spec = made_.signature.outputs.emplace_back();
    spec.kind = kind;
    spec.argument = tracer_.argument(value);
    return spec;
  }

  // What was written comes first, in the order of the inputs.
  void add_outputs(std::span<const Value> inputs, std::vector<Value> given) {
    std::vector<std::pair<const graph::InputSpec*, Tensor>> written;
    for (size_t i = 0; i < inputs.size() && i < program_.signature.inputs.size(); ++i) {
      const Tensor* const outside = inputs[i].get_if<Tensor>();
      if (outside == nullptr || !functionalizer_.is_written(*outside)) continue;
      written.emplace_back(&program_.signature.inputs[i], functionalizer_.value(*outside));
    }
    for (Value& value : given) {
      if (const Tensor* const tensor = value.get_if<Tensor>()) value = functionalizer_.value(*tensor);
    }
    const size_t before = count_mutations();
    for (size_t i = 0; i < before; ++i) add_known_mutation(program_.signature.outputs[i], given[i]);
    for (const auto& [input, tensor] : written) add_mutation(*input, tensor);
    for (size_t i = before; i < given.size(); ++i)
      add_output(i < program_.signature.outputs.size() ? program_.signature.outputs[i].kind
                                                       : OutputKind::kUserOutput,
                 given[i]);
  }

  // Of a program that is functional already: they are outputs like all others.
  size_t count_mutations() const {
    size_t count = 0;
    for (const graph::OutputSpec& spec : program_.signature.outputs) {
      if (spec.kind != OutputKind::kBufferMutation && spec.kind != OutputKind::kUserInputMutation &&
          spec.kind != OutputKind::kParameterMutation)
        break;
      ++count;
    }
    return count;
  }
  void add_known_mutation(const graph::OutputSpec& known, const Value& value) {
    graph::OutputSpec& spec = add_output(known.kind, value);
    spec.target = known.target;
    if (known.input) spec.input = graph::ValueRef(*made_.graph().find(known.input->name()));
  }

  void add_mutation(const graph::InputSpec& input, const Tensor& value) {
    if (input.kind == InputKind::kUserInput) {
      graph::OutputSpec& spec = add_output(OutputKind::kUserInputMutation, value);
      spec.input = graph::ValueRef(*made_.graph().find(input.argument.value()->name()));
      return;
    }
    const bool is_parameter = input.kind == InputKind::kParameter;
    add_output(is_parameter ? OutputKind::kParameterMutation : OutputKind::kBufferMutation, value).target =
        input.target;
  }

  // What is copied into a buffer or parameter is its new value itself.
  void drop_copies_into_state() {
    for (const graph::OutputSpec& spec : made_.signature.outputs) {
      if (spec.kind != OutputKind::kBufferMutation && spec.kind != OutputKind::kParameterMutation) continue;
      graph::Value* const value = spec.argument.value();
      const graph::Node* const node = value == nullptr ? nullptr : value->producer();
      const OperatorName* const name = node == nullptr ? nullptr : node->target.op();
      const ops::Operator* const op = name == nullptr ? nullptr : library_->find(*name);
      if (op == nullptr || !op->is(ops::Trait::kReplaces)) continue;
      value->replace_uses_with(*node->inputs()[1].argument.value());
    }
  }

  void copy_rest() {
    for (const graph::ModuleCallEntry& entry : program_.module_call_graph) {
      graph::ModuleCallEntry& made = made_.module_call_graph.emplace_back();
      made.fqn = entry.fqn;
      made.extras = entry.extras;
      if (!entry.signature || !entry.fqn.empty()) continue;
      made.signature.emplace();
      made.signature->in_spec = entry.signature->in_spec;
      made.signature->out_spec = entry.signature->out_spec;
      made.signature->forward_arg_names = entry.signature->forward_arg_names;
    }
    made_.metadata = program_.metadata;
    made_.named_tuples = program_.named_tuples;
    made_.opset_version = program_.opset_version;
    made_.range_constraints = program_.range_constraints;
    made_.schema_version = program_.schema_version;
    made_.verifiers = {"ATEN"};
    made_.torch_version = program_.torch_version;
    made_.guards_code = program_.guards_code;
    made_.style = program_.style;
    made_.has_weights = program_.has_weights;
    made_.state_dict = program_.state_dict;
    made_.constants = program_.constants;
    made_.objects = program_.objects;
    made_.example_inputs = program_.example_inputs;
  }

  const graph::ExportedProgram& program_;
  graph::ExportedProgram made_;
  std::shared_ptr<const ops::Library> library_;
  DecompositionTable table_;
  ThreadPool pool_{1};
  TracedSymbols env_;
  SymbolicProgram symbols_;
  Tracer tracer_;
  Decomposer decomposer_;
  ops::Context inner_;
  Functionalizer functionalizer_;
  ops::Context outer_;
  HigherOrder flow_;
  graph::StringMap metadata_;
};

}  // namespace

graph::ExportedProgram run_decompositions(const graph::ExportedProgram& program,
                                          const DecompositionOptions& options) {
  return Retracer(program, options).run();
}

}  // namespace flambeau::trace
