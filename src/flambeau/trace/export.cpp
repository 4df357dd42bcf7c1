#include "flambeau/trace/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "flambeau/base/error.h"
#include "flambeau/nn/session.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/input_shapes.h"
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

class Exporter {
 public:
  Exporter(nn::Module& module, std::span<const nn::Tree> arguments, nn::Keywords keywords,
           const ExportOptions& options)
      : module_(module),
        inputs_(flatten_inputs(module, arguments, keywords)),
        shapes_(env_, options.dynamic_shapes, inputs_.arguments()),
        stack_(module),
        tracer_(program_.graph(), env_) {
    env_.tracer = &tracer_;
    env_.set_where([] { return location_text(nn::where()); });
    tracer_.lift = [this](const Tensor& tensor) -> graph::Value& { return lift(tensor); };
    tracer_.merges_strides = true;
    tracer_.metadata = [this] { return node_metadata(); };
    stack_.on_read_size = [this](const Tensor& tensor, std::optional<size_t> dim) {
      tracer_.note_size(tensor, dim);
    };
    stack_.on_check = [this](const symbolic::Expr& condition, const std::string& message) {
      env_.check(condition, message);
    };
  }

  graph::ExportedProgram run() {
    add_state();
    const size_t state = program_.graph().inputs().size();
    add_user_inputs();
    const size_t given = program_.graph().inputs().size();
    const nn::Tree result = trace();
    add_outputs(result);
    solve_shapes();
    tracer_.finish();
    order_inputs(state, given);
    describe(result.spec);
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
    for (const nn::NamedSlot& slot : module_.named_parameters(nn::Shared::kEach))
      add_tensor_input(InputKind::kParameter, "p_", slot.name, *slot.tensor);
    for (const nn::NamedSlot& slot : module_.named_buffers(nn::Shared::kEach)) {
      add_tensor_input(InputKind::kBuffer, "b_", slot.name, *slot.tensor);
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
    if (!tensor.storage() || tensor.symbolic_geometry() != nullptr) {
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
    return module_.call(given.positional, given.keywords);
  }

  graph::StringMap node_metadata() const {
    const std::string stack = stack_.text();
    return {{"stack_trace", location_text(nn::where())},
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
    graph::ModuleCallSignature signature;
    signature.in_spec = dump_treespec(inputs_.spec);
    signature.out_spec = dump_treespec(out_spec);
    signature.forward_arg_names = inputs_.argument_names;
    for (const nn::NamedModule& named : module_.named_modules(nn::Shared::kEach)) {
      graph::ModuleCallEntry& entry = program_.module_call_graph.emplace_back();
      entry.fqn = named.name;
      if (named.name.empty()) entry.signature = std::move(signature);
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
  }

  nn::Module& module_;
  graph::ExportedProgram program_;
  TracedSymbols env_;
  Inputs inputs_;
  InputShapes shapes_;
  ModuleStack stack_;
  Tracer tracer_;
  size_t lifted_ = 0;
};

}  // namespace

graph::ExportedProgram trace_module(nn::Module& module, std::span<const nn::Tree> arguments,
                                    nn::Keywords keywords, const ExportOptions& options) {
  return Exporter(module, arguments, keywords, options).run();
}

}  // namespace flambeau::trace
