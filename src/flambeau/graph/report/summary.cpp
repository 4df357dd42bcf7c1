#include "flambeau/graph/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/graph/interface.h"
#include "flambeau/graph/report/dimension_names.h"
#include "flambeau/graph/text/atoms.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

std::string number_text(const SymInt& number) {
  return number.is_literal() ? fmt::format("{}", number.literal()) : number.expr().plain();
}

std::string constant_text(const ConstantValue& value) {
  if (const auto* const integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* const real = std::get_if<double>(&value)) return python_repr(*real);
  if (const auto* const text = std::get_if<std::string>(&value))
    return printable(python_repr(std::string_view(*text)));
  if (const auto* const boolean = std::get_if<bool>(&value)) return *boolean ? "True" : "False";
  return "None";
}

// A hostile program may give one value of many dimensions thousands of times, so each is described once, and
// cut.
using TypeTexts = std::unordered_map<const Value*, std::string>;
constexpr size_t kMostText = 200;

std::string argument_text(const Argument& argument, TypeTexts& types) {
  if (const Value* const value = argument.value()) {
    const auto [found, is_new] = types.try_emplace(value);
    if (is_new) found->second = printable(type_text(*value), kMostText);
    return found->second;
  }
  std::string text;
  append_atom(text, argument,
              {[](const Value& value) { return value.name(); },
               [](const GraphArgument& inner) { return inner.name; }});
  return printable(text, kMostText);
}

std::string name_of(const Argument& argument) {
  const Value* const value = argument.value();
  return value != nullptr ? value->name() : std::string();
}

void add_inputs(const ExportedProgram& program, const Interface& interface, ProgramSummary& summary) {
  TypeTexts types;
  for (const InputSpec& spec : program.signature.inputs) {
    const bool is_constant = spec.kind == InputKind::kConstantInput;
    if (spec.kind != InputKind::kUserInput && !is_constant) continue;
    const Leaf& leaf = interface.inputs[summary.inputs.size()];
    summary.inputs.push_back({leaf.name,
                              leaf.path,
                              is_constant ? constant_text(spec.value) : argument_text(spec.argument, types),
                              {}});
  }
}

std::string effect_of(const OutputSpec& spec) {
  switch (spec.kind) {
    case OutputKind::kBufferMutation:
      return fmt::format("updates buffer '{}'", printable(spec.target));
    case OutputKind::kParameterMutation:
      return fmt::format("updates parameter '{}'", printable(spec.target));
    case OutputKind::kUserInputMutation:
      return fmt::format("updates input '{}'", spec.input ? printable(spec.input->name()) : "?");
    case OutputKind::kGradientToParameter:
      return fmt::format("gradient of parameter '{}'", printable(spec.target));
    case OutputKind::kGradientToUserInput:
      return fmt::format("gradient of input '{}'", spec.input ? printable(spec.input->name()) : "?");
    case OutputKind::kLossOutput:
      return "loss";
    case OutputKind::kToken:
      return "orders side effects";
    default:
      return {};
  }
}

void add_outputs(const ExportedProgram& program, const Interface& interface, ProgramSummary& summary) {
  TypeTexts types;
  size_t index = 0;
  for (const OutputSpec& spec : program.signature.outputs) {
    const bool is_given = spec.kind == OutputKind::kUserOutput || spec.kind == OutputKind::kLossOutput;
    summary.outputs.push_back({name_of(spec.argument),
                               is_given ? interface.outputs[index++].path : std::string(),
                               argument_text(spec.argument, types), effect_of(spec)});
  }
}

// The example value of a symbol that is itself the size of some value.
std::unordered_map<std::string, int64_t> example_values(const Graph& graph) {
  std::unordered_map<std::string, int64_t> examples;
  std::unordered_map<const SymExpr*, bool> seen;
  const auto look_at = [&](const SymInt& number) {
    if (number.is_literal() || !seen.try_emplace(&number.expr(), true).second) return;
    if (const auto* const hint = std::get_if<int64_t>(&number.expr().hint)) {
      examples.try_emplace(number.expr().plain(), *hint);
    }
  };
  for (const Value* value : graph.values_of(ValueKind::kTensor)) {
    for (const SymInt& size : value->tensor()->sizes) look_at(size);
  }
  for (const Value* value : graph.values_of(ValueKind::kSymInt)) look_at(std::get<SymInt>(value->meta()));
  return examples;
}

void add_operators(const ExportedProgram& program, ProgramSummary& summary) {
  std::unordered_map<std::string_view, uint64_t> counts;
  program.graph().for_each_graph([&](const Graph& graph) {
    ++summary.subgraphs;
    for (const Node& node : graph.nodes()) {
      ++counts[node.target.text()];
      ++summary.nodes;
    }
  });
  --summary.subgraphs;  // the program's own graph is none
  for (const auto& [target, count] : counts) summary.operators.emplace_back(target, count);
  std::sort(summary.operators.begin(), summary.operators.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
}

// From the descriptions in the graph, so that a program without its weights can be summarized too.
void add_weights(const ExportedProgram& program, size_t module_depth, ProgramSummary& summary) {
  std::unordered_map<std::string, size_t> places;
  for (const InputSpec& spec : program.signature.inputs) {
    const bool is_parameter = spec.kind == InputKind::kParameter;
    const bool is_buffer = spec.kind == InputKind::kBuffer;
    if (!is_parameter && !is_buffer && spec.kind != InputKind::kTensorConstant) continue;
    const Value* const value = spec.argument.value();
    const TensorMeta* const meta = value != nullptr ? value->tensor() : nullptr;
    uint64_t elements = meta != nullptr ? 1 : 0;
    for (size_t i = 0; meta != nullptr && i < meta->sizes.size(); ++i) {
      const int64_t size = meta->sizes[i].is_literal() ? std::max<int64_t>(meta->sizes[i].literal(), 0) : 0;
      if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size), &elements)) elements = 0;
    }
    const uint64_t bytes = meta != nullptr ? elements * dtype_size(meta->dtype) : 0;
    (is_parameter ? summary.parameters : is_buffer ? summary.buffers : summary.constants) += 1;
    (is_parameter ? summary.parameter_elements
     : is_buffer  ? summary.buffer_elements
                  : summary.constant_elements) += elements;
    (is_parameter ? summary.parameter_bytes
     : is_buffer  ? summary.buffer_bytes
                  : summary.constant_bytes) += bytes;
    if (!is_parameter && !is_buffer) continue;
    // "encoder.layers.0.weight" belongs to "encoder" at depth 1.
    size_t end = 0;
    for (size_t depth = 0; depth < module_depth; ++depth) {
      const size_t dot = spec.target.find('.', end == 0 ? 0 : end + 1);
      if (dot == std::string::npos) break;
      end = dot;
    }
    const std::string module = spec.target.substr(0, end);
    const auto [place, is_new] = places.try_emplace(module, summary.modules.size());
    if (is_new) summary.modules.push_back({module});
    ProgramSummary::Module& entry = summary.modules[place->second];
    ++entry.tensors;
    entry.elements += elements;
    entry.bytes += bytes;
  }
}

}  // namespace

std::string type_text(const TensorMeta& meta) {
  std::string text = fmt::format("{}[", short_dtype_name(meta.dtype));
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    if (i != 0) text += ", ";
    text += number_text(meta.sizes[i]);
  }
  text += ']';
  if (meta.device.type != "cpu") text += fmt::format(" on {}", meta.device.to_string());
  return text;
}

std::string type_text(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kTensor:
      return type_text(*value.tensor());
    case ValueKind::kSymInt:
      return fmt::format("Sym({})", number_text(std::get<SymInt>(value.meta())));
    case ValueKind::kSymFloat: {
      const auto& number = std::get<SymFloat>(value.meta());
      return number.is_literal() ? fmt::format("float({})", number.literal())
                                 : fmt::format("SymFloat({})", number.expr().plain());
    }
    case ValueKind::kSymBool: {
      const auto& number = std::get<SymBool>(value.meta());
      return number.is_literal() ? (number.literal() ? "True" : "False")
                                 : fmt::format("SymBool({})", number.expr().plain());
    }
    case ValueKind::kCustomObj:
      return printable(std::get<CustomObjMeta>(value.meta()).class_fqn);
    case ValueKind::kUnknown:
      break;
  }
  return "?";
}

ProgramSummary summarize(const ExportedProgram& program, size_t module_depth) {
  ProgramSummary summary;
  const Interface interface = interface_of(program, Trust::kUnverified);
  add_inputs(program, interface, summary);
  add_outputs(program, interface, summary);
  const std::unordered_map<std::string, int64_t> examples = example_values(program.graph());
  const DimensionNames labels = dimension_names(program);
  for (const auto& [name, range] : program.range_constraints) {
    const auto example = examples.find(name);
    const auto label = std::ranges::find(labels, name, &DimensionNames::value_type::first);
    summary.symbols.push_back(
        {name, label == labels.end() ? std::string() : label->second, range.min, range.max,
         example == examples.end() ? std::nullopt : std::optional<int64_t>(example->second)});
  }
  add_operators(program, summary);
  add_weights(program, module_depth, summary);
  return summary;
}

}  // namespace flambeau::graph
