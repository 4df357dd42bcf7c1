#include "flambeau/trace/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/graph/report/dimension_names.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/shapes/input_shapes.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/higher_order.h"
#include "flambeau/trace/inputs.h"
#include "flambeau/trace/module_stack.h"
#include "flambeau/trace/traced_symbols.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::InputKind;
using graph::OutputKind;

constexpr std::string_view kTorchVersion = "2.13.0";
// What PyTorch writes for nodes that belong to no module.
constexpr std::string_view kNoModule =
    "_empty_nn_module_stack_from_metadata_hook,_empty_nn_module_stack_from_metadata_hook,"
    "_empty_nn_module_stack_from_metadata_hook";

// "p_encoder_0_weight" of "encoder.0.weight".
std::string placeholder_name(std::string_view prefix, std::string_view name) {
  std::string text(prefix);
  text += name;
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

// "self._modules.encoder._parameters.weight" of "encoder.weight": as Python code reaches it.
std::string state_name(std::string_view name, std::string_view table) {
  std::string text = "self";
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    text += fmt::format("._modules.{}", name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  return fmt::format("{}.{}.{}", text, table, name);
}

// Puts the tensors that a module registered back where they were.
class StateGuard {
 public:
  explicit StateGuard(const nn::Module& module) {
    for (const auto& slots :
         {module.named_parameters(nn::Shared::kEach), module.named_buffers(nn::Shared::kEach)}) {
      for (const nn::NamedSlot& slot : slots) before_.emplace_back(slot.tensor, *slot.tensor);
    }
  }
  ~StateGuard() {
    for (auto& [slot, tensor] : before_) *slot = std::move(tensor);
  }
  StateGuard(const StateGuard&) = delete;
  StateGuard& operator=(const StateGuard&) = delete;

 private:
  std::vector<std::pair<Tensor*, Tensor>> before_;
};

class Exporter {
 public:
  Exporter(nn::Module& module, std::span<const nn::Tree> arguments, const nn::Keywords& keywords,
           const ExportOptions& options)
      : module_(module),
        options_(options),
        inputs_(flatten_inputs(module, arguments, keywords)),
        shapes_(env_, options.dynamic, inputs_.arguments(), options.widens_ones),
        stack_(module),
        tracer_(program_.graph(), env_),
        flow_(env_) {
    env_.tracer = &tracer_;
    env_.set_like_pytorch(options.is_like_pytorch);
    env_.set_where([this] { return stack_.line(); });
    tracer_.lift = [this](const Tensor& tensor) -> graph::Value& { return lift(tensor); };
    tracer_.merges_strides = true;
    tracer_.metadata = [this] { return node_metadata(); };
    stack_.on_read_size = [this](const Tensor& tensor, std::optional<size_t> dim) {
      env_.tracer->note_size(tensor, dim);
    };
    stack_.on_check = [this](const symbolic::Expr& condition, const std::string& message) {
      env_.check(condition, message);
      env_.tracer->take_name(condition);
    };
    stack_.on_specialize = [this](const SymInt& number) -> std::optional<int64_t> {
      if (env_.has_unbacked(number.expr())) return std::nullopt;
      return env_.specialize(number);
    };
    stack_.flow = &flow_;
    if (!options.preserved.empty()) {
      stack_.on_enter = [this](const std::string& name, const auto& tree) { note_call(name, tree, true); };
      stack_.on_leave = [this](const std::string& name, const auto& tree) { note_call(name, tree, false); };
    }
    flow_.name_of = [this](const graph::Value& value) {
      const auto found = state_names_.find(&value);
      return found == state_names_.end() ? value.name() : found->second;
    };
  }

  graph::ExportedProgram run() {
    add_state();
    const size_t state = program_.graph().inputs().size();
    add_user_inputs();
    const size_t given = program_.graph().inputs().size();
    nn::Tree result;
    {
      const StateGuard guard(module_);
      result = trace();
      add_written_state();
    }
    if (options_.is_strict) check_strictly(result);
    add_outputs(result);
    solve_shapes();
    tracer_.finish();
    order_inputs(state, given);
    describe(result.spec);
    if (const std::vector<graph::Finding> findings = graph::verify(program_); !findings.empty()) {
      throw Error(ErrorCode::kInternal, fmt::format("the traced program is not valid: {}: {}",
                                                    findings[0].where, findings[0].message));
    }
    return std::move(program_);
  }

 private:
  graph::InputSpec& add_spec(InputKind kind, Argument argument, std::string target = {}) {
    graph::InputSpec& spec = program_.signature.inputs.emplace_back();
    spec.kind = kind;
    spec.argument = std::move(argument);
    spec.target = std::move(target);
    return spec;
  }
  graph::Value& add_tensor_input(InputKind kind, std::string_view prefix, const std::string& name,
                                 const Tensor& tensor) {
    graph::Value& value =
        tracer_.add_input(program_.graph().unique_name(placeholder_name(prefix, name)), tensor);
    add_spec(kind, Argument::tensor(value), name);
    return value;
  }

  // Every name of a tied weight is an input; the last one is what the graph uses.
  void add_state() {
    for (const nn::NamedSlot& slot : module_.named_parameters(nn::Shared::kEach)) {
      const graph::Value& value = add_tensor_input(InputKind::kParameter, "p_", slot.name, *slot.tensor);
      state_names_.emplace(&value, state_name(slot.name, "_parameters"));
      state_.push_back({slot.name, slot.tensor, *slot.tensor, false});
    }
    for (const nn::NamedSlot& slot : module_.named_buffers(nn::Shared::kEach)) {
      const graph::Value& value = add_tensor_input(InputKind::kBuffer, "b_", slot.name, *slot.tensor);
      state_names_.emplace(&value, state_name(slot.name, "_buffers"));
      state_.push_back({slot.name, slot.tensor, *slot.tensor, true});
      program_.signature.inputs.back().persistent = slot.is_persistent;
    }
  }

  void add_user_inputs() {
    std::vector<std::pair<Tensor, graph::Value*>> tensors;
    std::vector<std::pair<Tensor, Tensor>> known;
    for (size_t i = 0; i < inputs_.leaves.size(); ++i) {
      TracedLeaf& leaf = inputs_.leaves[i];
      const InputSymbols& symbols = shapes_.symbols()[i];
      if (const Tensor* const tensor = leaf.value.get_if<Tensor>(); tensor != nullptr && tensor->defined()) {
        // A tensor that is given twice is one for the model too; its last place is what the graph uses.
        const auto same = std::ranges::find_if(
            known, [&](const auto& pair) { return nn::is_same_tensor(pair.first, *tensor); });
        Tensor fake = same != known.end() ? same->second : make_fake(info_of(*tensor, symbols));
        fake.set_requires_grad(tensor->requires_grad());
        known.emplace_back(*tensor, fake);
        graph::Value& value = add_tensor_input(InputKind::kUserInput, "", leaf.name, fake);
        program_.signature.inputs.back().target.clear();
        leaf.value = fake;
        tensors.emplace_back(std::move(fake), &value);
      } else if (leaf.value.is<int64_t>() && !symbols.value.is_literal()) {
        graph::Value& value =
            tracer_.add_number_input(program_.graph().unique_name(leaf.name), symbols.value.expr());
        add_spec(InputKind::kUserInput, Argument::sym_int(value));
        leaf.value = symbols.value;
      } else {
        add_constant(leaf);
      }
    }
    for (const auto& [tensor, value] : tensors) tracer_.bind_symbols(tensor, *value);
  }

  static ops::Info<SymInt> info_of(const Tensor& tensor, const InputSymbols& symbols) {
    ops::Info<SymInt> info{.dtype = tensor.dtype(), .device = tensor.device()};
    info.sizes = ShortList<SymInt>(std::span<const SymInt>(symbols.sizes));
    info.strides = ShortList<SymInt>(std::span<const SymInt>(symbols.strides));
    info.offset = symbols.offset;
    return info;
  }

  void add_constant(const TracedLeaf& leaf) {
    graph::InputSpec& spec = add_spec(InputKind::kConstantInput, Argument(), leaf.name);
    if (const auto* const flag = leaf.value.get_if<bool>()) {
      spec.value = *flag;
    } else if (const auto* const number = leaf.value.get_if<int64_t>()) {
      spec.value = *number;
    } else if (const auto* const real = leaf.value.get_if<double>()) {
      spec.value = *real;
    } else if (const auto* const text = leaf.value.get_if<std::string>()) {
      spec.value = *text;
    } else if (!leaf.value.is_none()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the input '{}' is a {}, which a program cannot take", leaf.name,
                              leaf.value.kind_name()),
                  "give tensors, numbers, strings, or None");
    }
    program_.graph().add_input(tracer_.argument(leaf.value));
  }

  graph::Value& lift(const Tensor& tensor) {
    if (!tensor.storage() || tensor.is_traced()) {
      throw Error(ErrorCode::kInvalidArgument, "a tensor of another trace is used here",
                  "do not keep tensors of forward() outside of it");
    }
    const std::string name = fmt::format("lifted_tensor_{}", lifted_++);
    program_.constants.push_back({.name = name, .tensor = tensor});
    return add_tensor_input(InputKind::kTensorConstant, "c_", name, tensor);
  }

  nn::Tree trace() {
    ops::Context context = nn::current();
    context.interceptor = &tracer_;
    const nn::Use use(context, &stack_);
    const Inputs::Trees given = inputs_.trees();
    try {
      return module_.call(given.positional, given.keywords);
    } catch (Error& error) {
      // One whose lines are no C++ says in its own way where it was.
      if (!stack_.has_own_lines()) error.add_location("traced", stack_.line());
      throw;
    }
  }

  // What the module put in the place of a buffer is written to it.
  void add_written_state() {
    for (const State& state : state_) {
      if (state.slot->storage() == state.before.storage()) continue;
      if (!state.is_buffer) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("the model replaces its parameter '{}' while it is traced", state.name),
                    "make it a buffer, or give the new value back");
      }
      for (const graph::InputSpec& spec : program_.signature.inputs) {
        if (spec.kind == InputKind::kBuffer && spec.target == state.name)
          tracer_.add_copy(*spec.argument.value(), *state.slot);
      }
    }
  }

  void check_strictly(const nn::Tree& result) const {
    if (const graph::Value* const value = tracer_.find_held(result.leaves)) {
      const std::string* const line = value->producer()->find_metadata("stack_trace");
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("a traced tensor is still held after the call: '{}', made in {}", value->name(),
                              line == nullptr ? "the model" : *line),
                  "give it back, register it as a buffer, or keep it in a variable of forward() alone");
    }
    for (const graph::Node& node : program_.graph().nodes()) {
      const OperatorName* const name = node.target.op();
      const ops::Operator* const op = name != nullptr ? nn::current().library().find(*name) : nullptr;
      if (op == nullptr || !op->schema.is_mutable()) continue;
      for (const SchemaArgument& argument : op->schema.arguments) {
        const Argument* const input = argument.is_written() ? node.input(argument.name) : nullptr;
        const graph::Value* const written = input == nullptr ? nullptr : input->value();
        if (written == nullptr || !is_constant(*written)) continue;
        const std::string* const line = node.find_metadata("stack_trace");
        throw Error(
            ErrorCode::kInvalidArgument,
            fmt::format("{} writes to a tensor that is neither an input nor a state of the model, in {}",
                        op->name(), line == nullptr ? "the model" : *line),
            "register the tensor as a buffer of the module");
      }
    }
  }
  bool is_constant(const graph::Value& value) const {
    return std::ranges::any_of(program_.signature.inputs, [&](const graph::InputSpec& spec) {
      return spec.kind == InputKind::kTensorConstant && spec.argument.value() == &value;
    });
  }

  // A call of a module that is to be described, "fc@1" when it is the second.
  void note_call(const std::string& name, const std::function<nn::Tree()>& tree, bool is_entered) {
    const std::string plain = name.substr(0, name.find('@'));
    if (plain.empty() || std::ranges::find(options_.preserved, plain) == options_.preserved.end()) return;
    graph::ModuleCallSignature& signature = calls_[name];
    const nn::Tree given = tree();
    (is_entered ? signature.in_spec : signature.out_spec) = dump_treespec(given.spec);
    std::vector<Argument>& arguments = is_entered ? signature.inputs : signature.outputs;
    for (const Value& leaf : given.leaves) arguments.push_back(env_.tracer->argument(leaf));
    if (!is_entered && name != plain) later_calls_.push_back(name);
  }

  graph::StringMap node_metadata() const {
    const std::string stack = stack_.text();
    return {{"stack_trace", stack_.line()},
            {"nn_module_stack", stack.empty() ? std::string(kNoModule) : stack}};
  }

  void add_outputs(const nn::Tree& result) {
    for (const Value& leaf : result.leaves) {
      program_.graph().add_output(tracer_.argument(leaf));
      graph::OutputSpec& spec = program_.signature.outputs.emplace_back();
      spec.argument = tracer_.argument(leaf);
    }
  }

  // Constants are met while tracing, and stand before the user's inputs.
  void order_inputs(size_t state, size_t given) {
    std::vector<Argument> inputs = program_.graph().take_inputs();
    const auto at = [](auto& list, size_t index) {
      return list.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::rotate(at(inputs, state), at(inputs, given), inputs.end());
    std::rotate(at(program_.signature.inputs, state), at(program_.signature.inputs, given),
                program_.signature.inputs.end());
    for (Argument& input : inputs) program_.graph().add_input(std::move(input));
  }

  void describe(const TreeSpec& out_spec) {
    for (const nn::NamedModule& named : module_.named_modules(nn::Shared::kEach)) {
      graph::ModuleCallEntry& entry = program_.module_call_graph.emplace_back();
      entry.fqn = named.name;
      if (named.name.empty()) {
        entry.signature.emplace();
        entry.signature->in_spec = dump_treespec(inputs_.spec);
        entry.signature->out_spec = dump_treespec(out_spec);
        entry.signature->forward_arg_names = inputs_.argument_names;
      } else if (const auto call = calls_.find(named.name); call != calls_.end()) {
        entry.signature = std::move(call->second);
      }
    }
    for (const std::string& name : later_calls_) {
      graph::ModuleCallEntry& entry = program_.module_call_graph.emplace_back();
      entry.fqn = name;
      entry.signature = std::move(calls_.at(name));
    }
    for (const std::string& name : options_.preserved) {
      if (!calls_.contains(name)) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("the module '{}', whose calls are to be preserved, is not called", name));
      }
    }
    std::vector<std::string> parameters;
    for (const nn::NamedSlot& slot : module_.named_parameters(nn::Shared::kEach))
      parameters.push_back(slot.name);
    std::ranges::sort(parameters);
    for (const auto& [name, tensor] : module_.state_dict()) {
      program_.state_dict.push_back(
          {.name = name, .tensor = tensor, .is_parameter = std::ranges::binary_search(parameters, name)});
    }
    for (const nn::NamedSlot& slot : module_.named_buffers(nn::Shared::kEach)) {
      if (!slot.is_persistent) program_.constants.push_back({.name = slot.name, .tensor = *slot.tensor});
    }
    program_.opset_version = {{"aten", 10}};
    program_.verifiers = {"TRAINING"};
    program_.torch_version = kTorchVersion;
  }

  void solve_shapes() {
    ShapeConstraints constraints = shapes_.finish();
    program_.range_constraints = constraints.range_constraints();
    program_.guards_code = std::move(constraints.guards_code);
    graph::set_dimension_names(program_, constraints.names);
  }

  // A parameter or buffer as it was before the trace.
  struct State {
    std::string name;
    const Tensor* slot;
    Tensor before;
    bool is_buffer;
  };

  nn::Module& module_;
  const ExportOptions& options_;
  graph::ExportedProgram program_;
  std::vector<State> state_;
  std::map<std::string, graph::ModuleCallSignature> calls_;  // of modules that are preserved
  std::vector<std::string> later_calls_;                     // those after the first, as they happened
  TracedSymbols env_;
  Inputs inputs_;
  InputShapes shapes_;
  ModuleStack stack_;
  Tracer tracer_;
  HigherOrder flow_;
  std::unordered_map<const graph::Value*, std::string> state_names_;
  size_t lifted_ = 0;
};

}  // namespace

graph::ExportedProgram trace_module(nn::Module& module, std::span<const nn::Tree> arguments,
                                    const nn::Keywords& keywords, const ExportOptions& options) {
  return Exporter(module, arguments, keywords, options).run();
}

}  // namespace flambeau::trace
