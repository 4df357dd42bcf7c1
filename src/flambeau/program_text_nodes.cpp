// Nodes of a program as statements.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/program_text.h"
#include "flambeau/script/operators/programs/program_forms.h"
#include "flambeau/value/schema_table.h"

namespace flambeau {
namespace {

using graph::Argument;
using graph::ArgumentKind;

std::string filled(std::string_view form, const std::vector<std::string>& arguments) {
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '{' && i + 2 < form.size()) {
      const auto at = static_cast<size_t>(form[i + 1] - '0');
      text += at < arguments.size() ? arguments[at] : "None";
      i += 2;
    } else {
      text += form[i];
    }
  }
  return text;
}

// A number that a tensor gives is of the type that the program says.
std::string_view number_type(const Argument& output) {
  const bool is_number = !output.is(ArgumentKind::kTensor) && !output.is(ArgumentKind::kString);
  return is_number ? leaf_type(output.kind()) : std::string_view();
}

const graph::Graph& graph_at(const graph::Node& node, size_t index) {
  if (index >= node.inputs().size() || !node.inputs()[index].argument.is(ArgumentKind::kGraph))
    throw Error(ErrorCode::kCorrupt, fmt::format("the node '{}' has no graph", printable(node.label())));
  return *node.inputs()[index].argument.get<ArgumentKind::kGraph>().graph;
}

}  // namespace

void ProgramText::fail(const graph::Node& node, const std::string& why) const {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the node '{}' ({}) cannot be said in TorchScript: {}", printable(node.label()),
                          printable(node.target.text()), why));
}

void ProgramText::add_nodes(const Graph& graph) {
  for (const graph::Node& node : graph.nodes()) add_node(node);
}

void ProgramText::add_node(const graph::Node& node) {
  if (node.target.is_higher_order()) return add_higher_order(node);
  if (const OperatorName* const name = node.target.op()) {
    if (add_known_call(node, name->to_string())) return;
    return add_call(node, *name);
  }
  add_function(node);
}

// The results of a call, each under its name.
void ProgramText::give(const graph::Node& node, const std::string& value) {
  const std::vector<Argument>& outputs = node.outputs();
  if (outputs.empty()) return line(value);
  const auto take_apart = [&](const Argument& output, const std::string& list) {
    size_t i = 0;
    output.for_each_ref([&](const graph::ValueRef& ref) {
      if (ref) line(fmt::format("{} = {}[{}]", name_of(*ref), list, i));
      ++i;
    });
  };
  const auto is_list = [](const Argument& output) {
    return output.is(ArgumentKind::kTensors) || output.is(ArgumentKind::kOptionalTensors);
  };
  std::vector<std::string> names;
  for (const Argument& output : outputs) {
    const graph::Value* const result = is_list(output) ? nullptr : output.value();
    names.push_back(result == nullptr ? fresh("items") : name_of(*result));
  }
  line(fmt::format("{} = {}", fmt::join(names, ", "), value));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_list(outputs[i])) take_apart(outputs[i], names[i]);
  }
}

std::string ProgramText::arguments_text(const graph::Node& node, const OperatorName& name) {
  static const SchemaTable table;
  const OperatorEntry* const entry = table.find(name);
  std::string text;
  bool is_gap = false;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const graph::NamedArgument& input = node.inputs()[i];
    bool is_keyword = input.passed_by == graph::PassedBy::kKeyword;
    if (entry != nullptr) {
      const std::optional<size_t> place = entry->schema.find_argument(input.name);
      // A type is a number there: its name says which operator is meant.
      is_gap = is_gap || !place || *place != i || input.argument.is(ArgumentKind::kScalarType);
      is_keyword = is_gap || entry->schema.arguments[*place].is_kwarg_only;
    }
    if (!text.empty()) text += ", ";
    if (is_keyword) text += input.name + "=";
    text += text_of(input.argument);
  }
  return text;
}

void ProgramText::add_call(const graph::Node& node, const OperatorName& name) {
  if (node.target.kind() != graph::TargetKind::kOperator) fail(node, "it is an operator of an extension");
  const size_t colons = name.name.find("::");
  if (colons == std::string::npos) fail(node, "it has no namespace");
  std::string arguments;
  try {
    arguments = arguments_text(node, name);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    fail(node, error.message());
  }
  const std::string call = fmt::format("torch.ops.{}.{}({})", name.name.substr(0, colons),
                                       name.name.substr(colons + 2), arguments);
  give(node, call);
}

bool ProgramText::add_known_call(const graph::Node& node, const std::string& name) {
  using Kind = script::ProgramForm::Kind;
  const script::ProgramForm* const form = script::find_program_form(name);
  if (form == nullptr) return false;
  const auto argument = [&](size_t i) {
    if (i >= node.inputs().size()) fail(node, "an argument is missing");
    return text_of(node.inputs()[i].argument);
  };
  switch (form->kind) {
    case Kind::kMethod:
      give(node, fmt::format("{}.{}()", argument(0), form->method));
      return true;
    case Kind::kMethodOfDim:
      give(node, fmt::format("{}.{}({})", argument(0), form->method, argument(1)));
      return true;
    case Kind::kNothing:
      return true;
    case Kind::kAssertion:
      line(fmt::format("assert bool({}), {}", argument(0),
                       node.inputs().size() > 1 ? argument(1) : "'an assertion of the program fails'"));
      return true;
    case Kind::kConversion:
      give(node, fmt::format("torch.ops.aten.to({}, {})", argument(0), argument(1)));
      return true;
    case Kind::kAlias:
      give(node, fmt::format("torch.ops.aten.alias({})", argument(0)));
      return true;
    case Kind::kElement: {
      // Numbers of tensors are of no certain type there.
      const std::string_view type = node.outputs().size() == 1 ? number_type(node.outputs()[0]) : "";
      if (type.empty()) return false;
      give(node, fmt::format("{}({})", type, argument(0)));
      return true;
    }
  }
  return false;
}

void ProgramText::add_function(const graph::Node& node) {
  const std::string& name = node.target.text();
  const std::string_view form = script::function_form(name);
  if (form.empty()) fail(node, "there is no such function");
  std::vector<std::string> arguments;
  for (const graph::NamedArgument& input : node.inputs()) arguments.push_back(text_of(input.argument));
  std::string value = filled(form, arguments);
  if (node.outputs().size() == 1 && script::is_power(name) && number_type(node.outputs()[0]) == "int")
    value = fmt::format("int({})", value);
  give(node, value);
}

// ---- graphs inside of nodes

void ProgramText::add_higher_order(const graph::Node& node) {
  const std::string_view name = node.target.name();
  if (name == "cond") return add_cond(node);
  if (name == "while_loop") return add_loop(node);
  if (name == "wrap_with_set_grad_enabled") {
    // Gradients are no matter of what is computed.
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (node.inputs()[i].argument.is(ArgumentKind::kGraph)) return add_part(node, i);
    }
  }
  fail(node, "it has no operator that takes such graphs");
}

// The values of a graph inside have new names each time that it is written.
void ProgramText::bind(const Graph& graph, const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < graph.inputs().size() && i < inputs.size(); ++i) {
    if (const graph::Value* const value = graph.inputs()[i].value()) names_[value] = inputs[i];
  }
  for (const graph::Node& node : graph.nodes()) {
    for (const Argument& output : node.outputs())
      output.for_each_value([&](const graph::Value& value) { names_.erase(&value); });
  }
}

std::vector<std::string> ProgramText::results_of(const graph::Node& node) {
  std::vector<std::string> names;
  for (const Argument& output : node.outputs()) {
    size_t count = 0;
    output.for_each_ref([&](const graph::ValueRef& ref) {
      names.push_back(ref ? name_of(*ref) : fresh("unused"));
      ++count;
    });
    if (count == 0 && !output.is(ArgumentKind::kTensors)) names.push_back(fresh("unused"));
  }
  return names;
}

void ProgramText::add_part(const graph::Node& node, size_t at) {
  const Graph& graph = graph_at(node, at);
  std::vector<std::string> inputs;
  for (size_t i = at + 1; i < node.inputs().size(); ++i) inputs.push_back(text_of(node.inputs()[i].argument));
  bind(graph, inputs);
  add_nodes(graph);
  const std::vector<std::string> results = results_of(node);
  for (size_t i = 0; i < results.size() && i < graph.outputs().size(); ++i)
    line(fmt::format("{} = {}", results[i], text_of(graph.outputs()[i])));
}

void ProgramText::add_cond(const graph::Node& node) {
  std::vector<std::string> operands;
  for (size_t i = 3; i < node.inputs().size(); ++i) {
    node.inputs()[i].argument.for_each_ref(
        [&](const graph::ValueRef& ref) { operands.push_back(ref ? name_of(*ref) : "None"); });
  }
  const std::string predicate = text_of(node.inputs().at(0).argument);
  const std::vector<std::string> results = results_of(node);
  for (const size_t side : {1, 2}) {
    const Graph& graph = graph_at(node, side);
    line(side == 1 ? fmt::format("if bool({}):", predicate) : "else:");
    ++depth_;
    bind(graph, operands);
    add_nodes(graph);
    for (size_t i = 0; i < results.size() && i < graph.outputs().size(); ++i)
      line(fmt::format("{} = {}", results[i], text_of(graph.outputs()[i])));
    line("pass");
    --depth_;
  }
}

void ProgramText::add_loop(const graph::Node& node) {
  const Graph& condition = graph_at(node, 0);
  const Graph& body = graph_at(node, 1);
  const std::vector<std::string> results = results_of(node);
  std::vector<std::string> operands;
  size_t carried = 0;
  for (size_t k = 2; k < node.inputs().size(); ++k) {
    node.inputs()[k].argument.for_each_ref([&](const graph::ValueRef& ref) {
      operands.push_back(ref ? name_of(*ref) : "None");
      if (k == 2) ++carried;
    });
  }
  if (carried != results.size() || body.outputs().size() < carried || condition.outputs().empty())
    fail(node, "it carries numbers along");
  for (size_t i = 0; i < carried; ++i) {
    line(fmt::format("{} = {}", results[i], operands[i]));
    operands[i] = results[i];
  }
  const std::string goes_on = fresh("goes_on");
  const auto ask = [&] {
    bind(condition, operands);
    add_nodes(condition);
    line(fmt::format("{} = bool({})", goes_on, text_of(condition.outputs()[0])));
  };
  ask();
  line(fmt::format("while {}:", goes_on));
  ++depth_;
  bind(body, operands);
  add_nodes(body);
  std::vector<std::string> next;
  for (size_t i = 0; i < carried; ++i) {
    next.push_back(fresh("next_value"));
    line(fmt::format("{} = {}", next[i], text_of(body.outputs()[i])));
  }
  for (size_t i = 0; i < carried; ++i) line(fmt::format("{} = {}", results[i], next[i]));
  ask();
  --depth_;
}

}  // namespace flambeau
