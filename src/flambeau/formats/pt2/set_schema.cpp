#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/enums.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/formats/pt2/schema_versions.h"

namespace flambeau::pt2 {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::ExportedProgram;
using graph::Graph;
using graph::NamedArgument;
using graph::ValueKind;

// The minor that first had a field.
int since(std::string_view type, std::string_view field) {
  const SchemaType* const found = find_schema_type(type);
  const SchemaField* const member = found != nullptr ? found->find(field) : nullptr;
  return member != nullptr ? member->since : 0;
}

int since(DType dtype) {
  const int64_t number = schema_number(dtype);
  for (const SchemaEnumValue& value : schema_enum_values()) {
    if (value.owner == "ScalarType" && value.value == number) return value.since;
  }
  return 0;
}

// Everything a program says that not every minor can say, with the first that can.
class Needs {
 public:
  explicit Needs(int minor) : minor_(minor) {}

  void look_at(const ExportedProgram& program) {
    program.graph().for_each_graph([&](const Graph& graph) {
      for (const graph::Value* value : graph.values_of(ValueKind::kTensor)) look_at(value->tensor()->dtype);
      if (!graph.values_of(ValueKind::kSymFloat).empty())
        need("SymFloat values", since("Graph", "sym_float_values"));
      for (const Argument& output : graph.outputs()) look_at(output);
      for (const graph::Node& node : graph.nodes()) {
        for (const NamedArgument& input : node.inputs()) look_at(input.argument);
        for (const Argument& output : node.outputs()) look_at(output);
      }
    });
    for (const graph::InputSpec& spec : program.signature.inputs) {
      if (spec.kind == graph::InputKind::kUnknown)
        unmet_.insert(fmt::format("an input of kind {}", printable(spec.unknown.first)));
    }
    for (const graph::OutputSpec& spec : program.signature.outputs) {
      if (spec.kind == graph::OutputKind::kUnknown)
        unmet_.insert(fmt::format("an output of kind {}", printable(spec.unknown.first)));
      need(fmt::format("an output of kind {}", graph::output_kind_key(spec.kind)),
           since("OutputSpec", graph::output_kind_key(spec.kind)));
    }
  }
  const std::set<std::string>& unmet() const { return unmet_; }

 private:
  void need(const std::string& what, int minor) {
    if (minor > minor_) unmet_.insert(fmt::format("{} (since 8.{})", what, minor));
  }
  void look_at(DType dtype) { need(fmt::format("the element type {}", dtype_name(dtype)), since(dtype)); }
  void look_at(const Argument& argument) {
    if (argument.is(ArgumentKind::kUnknown)) {
      unmet_.insert(
          fmt::format("an argument of kind {}", printable(argument.get<ArgumentKind::kUnknown>().first)));
      return;
    }
    const std::string_view key = graph::argument_kind_key(argument.kind());
    need(fmt::format("an argument of kind {}", key), since("Argument", key));
    if (argument.is(ArgumentKind::kScalarType)) look_at(argument.get<ArgumentKind::kScalarType>());
    if (argument.is(ArgumentKind::kStringToArgument)) {
      for (const auto& [name, item] : *argument.get<ArgumentKind::kStringToArgument>()) look_at(item);
    }
  }

  int minor_;
  std::set<std::string> unmet_;
};

// Before 8.4 the form of a higher-order operator's output said what a flag says since: one tensor, or a list
// of one.
void convert_results(Graph& graph, bool to_flag) {
  for (graph::Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (!node.inputs()[i].argument.is(ArgumentKind::kGraph)) continue;
      convert_results(*node.mutable_input(i).get<ArgumentKind::kGraph>().graph, to_flag);
    }
    if (!node.target.is_higher_order() || node.outputs().size() != 1) continue;
    const Argument& output = node.outputs().front();
    if (to_flag) {
      node.is_hop_single_tensor_return = output.is(ArgumentKind::kTensor);
      if (output.is(ArgumentKind::kTensors) && output.get<ArgumentKind::kTensors>().size() == 1) {
        node.set_output(0, Argument::tensor(*output.get<ArgumentKind::kTensors>().front()));
      }
    } else if (output.is(ArgumentKind::kTensor) && node.is_hop_single_tensor_return == false) {
      std::vector<graph::ValueRef> list;
      list.emplace_back(*output.value());
      node.set_output(0, Argument::make<ArgumentKind::kTensors>(std::move(list)));
    }
  }
}

}  // namespace

void set_schema(ExportedProgram& program, SchemaVersion version, Notes& notes) {
  if (version.major != kCurrentSchema.major || version.minor < 1 || version > kCurrentSchema) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("programs cannot be written with schema {}", to_string(version)),
                fmt::format("write 8.1 to {}", to_string(kCurrentSchema)));
  }
  Needs needs(version.minor);
  needs.look_at(program);
  if (!needs.unmet().empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("schema {} cannot say what the program has: {}", to_string(version),
                            fmt::join(needs.unmet(), ", ")),
                "write a newer version");
  }
  const int hop_since = since("Node", "is_hop_single_tensor_return");
  const bool had_flag = program.schema_version.minor >= hop_since;
  const bool has_flag = version.minor >= hop_since;
  if (had_flag != has_flag) convert_results(program.graph(), has_flag);

  ExportedProgram::Style style;
  style.has_sym_float_values = version.minor >= since("Graph", "sym_float_values");
  style.has_hop_single_return = has_flag;
  style.has_argument_kind = version.minor >= since("NamedArgument", "kind");
  style.has_named_tuples = version.minor >= since("GraphModule", "treespec_namedtuple_fields");
  style.has_guards_code = version.minor >= since("ExportedProgram", "guards_code");
  style.has_node_name = version.minor >= since("Node", "name");
  style.has_bare_infinity = version.minor < 6;
  style.omits_nulls = version.minor < 3;
  const auto note_loss = [&](bool is_lost, std::string_view what) {
    if (is_lost) notes.push_back(fmt::format("schema {} has no {}: left out", to_string(version), what));
  };
  note_loss(!style.has_guards_code && !program.guards_code.empty(), "guards");
  note_loss(!style.has_named_tuples && !program.named_tuples.empty(), "fields of named tuples");
  note_loss(!style.has_node_name && program.style.has_node_name, "names of nodes");
  note_loss(!style.has_argument_kind && program.style.has_argument_kind,
            "record of how arguments were passed");
  program.style = style;
  program.schema_version = version;
}

}  // namespace flambeau::pt2
