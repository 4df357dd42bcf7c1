#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/graph_reader.h"
#include "flambeau/formats/pt2/json_fields.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/formats/pt2/upgrade/upgrade.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::pt2 {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::ExportedProgram;
using graph::Graph;
using graph::InputKind;
using graph::InputSpec;
using graph::OutputKind;
using graph::OutputSpec;
using graph::ValueRef;

std::vector<std::string> read_strings(json::Value& value) {
  std::vector<std::string> list;
  for (json::Value& item : value.as_array()) list.push_back(take_string(item));
  return list;
}

graph::ConstantValue read_constant(json::Value& value) {
  json::Member& member = union_member(value, "a constant");
  if (member.first == "as_none") return {};
  if (member.first == "as_int") return member.second.as_int();
  if (member.first == "as_float") return read_double(member.second);
  if (member.first == "as_string") return take_string(member.second);
  if (member.first == "as_bool") return member.second.as_bool();
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("a constant has a member '{}', which this version does not know", printable(member.first)));
}

// Nothing for what stands for an infinity.
std::optional<int64_t> read_bound(const json::Value& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_double() || value.is_string()) {
    if (std::isinf(read_double(value))) return std::nullopt;
  }
  return value.as_int();
}

class ProgramReader {
 public:
  ExportedProgram read(json::Value& value, const GraphReader::Large* large, graph::SchemaVersion version,
                       Notes& notes) {
    program_.schema_version = version;
    large_ = large;
    Fields fields(value, "an exported program");
    program_.has_weights = false;
    graph_module(fields.required("graph_module"));
    for (const auto& [name, number] : fields.required("opset_version").as_object()) {
      program_.opset_version.emplace_back(name, number.as_int());
    }
    for (json::Member& member : fields.required("range_constraints").as_object()) {
      with_location("range constraint", printable(member.first), [&] {
        Fields bounds(member.second, "a range");
        graph::RangeConstraint made;
        made.min = read_bound(bounds.required("min_val"));
        made.max = read_bound(bounds.required("max_val"));
        made.extras = bounds.rest();
        program_.range_constraints.emplace_back(member.first, std::move(made));
      });
    }
    json::Value& stated = fields.required("schema_version");  // read by the upgrade already
    if (stated.is_object()) {
      Fields schema(stated, "a schema version");
      schema.required("major");
      schema.required("minor");
      reader_.note_lost("a schema version", schema.rest());
    }
    ExportedProgram::Style& style = program_.style;
    json::Value* const verifiers = fields.optional("verifiers");
    style.has_verifiers = verifiers != nullptr;
    if (verifiers != nullptr) program_.verifiers = read_strings(*verifiers);
    json::Value* const torch_version = fields.optional("torch_version");
    style.has_torch_version = torch_version != nullptr;
    if (torch_version != nullptr) program_.torch_version = take_string(*torch_version);
    json::Value* const guards = fields.optional("guards_code");
    style.has_guards_code = guards != nullptr;
    if (guards != nullptr) program_.guards_code = read_strings(*guards);
    program_.extras = fields.rest();
    reader_.describe_style(style);
    // The first versions wrote no nulls; a file of them has none where others have hundreds.
    style.omits_nulls = program_.schema_version.major == kCurrentSchema.major &&
                        program_.schema_version.minor < 3 && !reader_.meta().has_seen_null();
    style.has_forward_arg_names = !forward_arg_names_.is_absent();
    for (const std::string& member : reader_.lost()) {
      notes.push_back(fmt::format("{}, which this version does not know: left out", member));
    }
    return std::move(program_);
  }

 private:
  Graph& graph() { return program_.graph(); }

  void graph_module(json::Value& value) {
    Fields fields(value, "a graph module");
    with_location("graph", "main", [&] { reader_.graph(fields.required("graph"), large_, graph()); });
    with_location("graph", "signature", [&] { signature(fields.required("signature")); });
    for (json::Value& entry : fields.required("module_call_graph").as_array()) module_call(entry);
    json::Value* const metadata = fields.optional("metadata");
    program_.style.has_metadata = metadata != nullptr;
    if (metadata != nullptr) {
      for (auto& [key, text] : metadata->as_object()) program_.metadata.emplace_back(key, take_string(text));
    }
    json::Value* const tuples = fields.optional("treespec_namedtuple_fields");
    program_.style.has_named_tuples = tuples != nullptr;
    if (tuples != nullptr) {
      for (auto& [name, definition] : tuples->as_object()) {
        Fields tuple(definition, "a named tuple");
        ExportedProgram::NamedTupleDef& made = program_.named_tuples.emplace_back();
        made.name = name;
        made.fields = read_strings(tuple.required("field_names"));
        made.extras = tuple.rest();
      }
    }
    program_.graph_module_extras = fields.rest();
  }

  void signature(json::Value& value) {
    Fields fields(value, "a signature");
    size_t index = 0;
    for (json::Value& spec : fields.required("input_specs").as_array()) {
      with_location("input", std::to_string(index++),
                    [&] { program_.signature.inputs.push_back(input_spec(spec)); });
    }
    index = 0;
    for (json::Value& spec : fields.required("output_specs").as_array()) {
      with_location("output", std::to_string(index++),
                    [&] { program_.signature.outputs.push_back(output_spec(spec)); });
    }
    program_.signature.extras = fields.rest();
  }

  Argument tensor(json::Value& value) {
    return Argument::make<ArgumentKind::kTensor>(reader_.named(value, graph(), "a tensor argument"));
  }

  InputSpec input_spec(json::Value& value) {
    json::Member& member = union_member(value, "an input's specification");
    InputSpec spec;
    spec.kind = InputKind::kUnknown;
    for (const InputKind kind :
         {InputKind::kUserInput, InputKind::kParameter, InputKind::kBuffer, InputKind::kTensorConstant,
          InputKind::kCustomObj, InputKind::kToken, InputKind::kConstantInput}) {
      if (graph::input_kind_key(kind) == member.first) spec.kind = kind;
    }
    if (spec.kind == InputKind::kUnknown) {
      spec.unknown = std::move(member);
      return spec;
    }
    Fields fields(member.second, "an input's specification");
    switch (spec.kind) {
      case InputKind::kUserInput:
        spec.argument = reader_.argument(fields.required("arg"), graph());
        break;
      case InputKind::kParameter:
        spec.argument = tensor(fields.required("arg"));
        spec.target = take_string(fields.required("parameter_name"));
        break;
      case InputKind::kBuffer:
        spec.argument = tensor(fields.required("arg"));
        spec.target = take_string(fields.required("buffer_name"));
        spec.persistent = fields.required("persistent").as_bool();
        break;
      case InputKind::kTensorConstant:
        spec.argument = tensor(fields.required("arg"));
        spec.target = take_string(fields.required("tensor_constant_name"));
        break;
      case InputKind::kCustomObj:
        spec.argument =
            Argument::make<ArgumentKind::kCustomObj>(reader_.custom_obj(fields.required("arg"), graph()));
        spec.target = take_string(fields.required("custom_obj_name"));
        break;
      case InputKind::kToken:
        spec.argument = tensor(fields.required("arg"));
        break;
      case InputKind::kConstantInput:
        spec.target = take_string(fields.required("name"));
        spec.value = read_constant(fields.required("value"));
        break;
      case InputKind::kUnknown:
        break;
    }
    spec.extras = fields.rest();
    return spec;
  }

  OutputSpec output_spec(json::Value& value) {
    json::Member& member = union_member(value, "an output's specification");
    OutputSpec spec;
    spec.kind = OutputKind::kUnknown;
    for (const OutputKind kind :
         {OutputKind::kUserOutput, OutputKind::kLossOutput, OutputKind::kBufferMutation,
          OutputKind::kGradientToParameter, OutputKind::kGradientToUserInput, OutputKind::kUserInputMutation,
          OutputKind::kToken, OutputKind::kParameterMutation}) {
      if (graph::output_kind_key(kind) == member.first) spec.kind = kind;
    }
    if (spec.kind == OutputKind::kUnknown) {
      spec.unknown = std::move(member);
      return spec;
    }
    Fields fields(member.second, "an output's specification");
    json::Value& argument = fields.required("arg");
    spec.argument =
        spec.kind == OutputKind::kUserOutput ? reader_.argument(argument, graph()) : tensor(argument);
    switch (spec.kind) {
      case OutputKind::kBufferMutation:
        spec.target = take_string(fields.required("buffer_name"));
        break;
      case OutputKind::kGradientToParameter:
      case OutputKind::kParameterMutation:
        spec.target = take_string(fields.required("parameter_name"));
        break;
      case OutputKind::kGradientToUserInput:
      case OutputKind::kUserInputMutation:
        spec.input = ValueRef(graph().value(fields.required("user_input_name").as_string()));
        break;
      default:
        break;
    }
    spec.extras = fields.rest();
    return spec;
  }

  void module_call(json::Value& value) {
    Fields fields(value, "a module call");
    graph::ModuleCallEntry entry;
    entry.fqn = take_string(fields.required("fqn"));
    with_location("module call", printable(entry.fqn), [&] {
      json::Value* const signature = fields.optional("signature");
      if (reader_.meta().is_unsaid(signature)) return;
      Fields call(*signature, "a module call's signature");
      entry.signature.emplace();
      entry.signature->inputs = reader_.arguments(call.required("inputs"), graph());
      entry.signature->outputs = reader_.arguments(call.required("outputs"), graph());
      entry.signature->in_spec = take_string(call.required("in_spec"));
      entry.signature->out_spec = take_string(call.required("out_spec"));
      json::Value* const names = call.optional("forward_arg_names");
      forward_arg_names_.note(names != nullptr);
      if (!reader_.meta().is_unsaid(names)) entry.signature->forward_arg_names = read_strings(*names);
      entry.signature->extras = call.rest();
    });
    entry.extras = fields.rest();
    program_.module_call_graph.push_back(std::move(entry));
  }

  ExportedProgram program_;
  GraphReader reader_;
  const GraphReader::Large* large_ = nullptr;
  Presence forward_arg_names_;
};

// The program as a value without the two parts of its graph that can be large; those stay in the document.
struct Hollow {
  explicit Hollow(const json::Document::Element& root) {
    std::optional<json::Document::Element> nodes, tensor_values;
    tree = hollow_out(root, "graph_module", [&](const json::Document::Element& graph_module) {
      return hollow_out(graph_module, "graph", [&](const json::Document::Element& graph) {
        json::Object members;
        for (const auto& [key, element] : graph.members()) {
          if (key == "nodes") {
            nodes = element;
            members.emplace_back(key, json::Array{});
          } else if (key == "tensor_values") {
            tensor_values = element;
            members.emplace_back(key, json::Object{});
          } else {
            members.emplace_back(key, element.value());
          }
        }
        return json::Value(std::move(members));
      });
    });
    if (nodes && tensor_values) large = {*nodes, *tensor_values};
  }

  json::Value tree;
  std::optional<GraphReader::Large> large;  // nothing when it is no graph as it should be

 private:
  // The object as a value, with one member made by `make`.
  template <typename Make>
  static json::Value hollow_out(const json::Document::Element& object, std::string_view inner, Make&& make) {
    json::Object members;
    for (const auto& [key, element] : object.members()) {
      members.emplace_back(key, key == inner ? make(element) : element.value());
    }
    return json::Value(std::move(members));
  }
};

// Older programs have expressions as Python's text, newer ones as sympy's constructors.
std::string to_srepr_text(std::string_view expression) {
  try {
    return symbolic::to_srepr(symbolic::parse(expression));
  } catch (const Error&) {
    return symbols_to_srepr(expression);  // verify() says what is wrong with it, if anything is
  }
}

}  // namespace

ExportedProgram read_program(std::string_view text, Notes& notes) {
  return read_program(text, json::Limits::for_text(text.size()), notes);
}

ExportedProgram read_program(std::string_view text, const json::Limits& limits, Notes& notes) {
  const json::Document document(text, limits);
  Hollow hollow(document.root());
  const SchemaVersion version = stated_version(hollow.tree);
  // PyTorch takes 0.0 for its own version, but not the number 0.
  const bool is_unversioned =
      version == SchemaVersion{0, 0} && !hollow.tree.find("schema_version")->is_integer();
  const bool is_current = version.major == kCurrentSchema.major || is_unversioned;
  if (is_current && hollow.large) {
    if (version > kCurrentSchema) {
      notes.push_back(fmt::format("schema {} is newer than {}: what it added is kept and not checked",
                                  to_string(version), to_string(kCurrentSchema)));
    }
    return ProgramReader().read(hollow.tree, &*hollow.large, version, notes);
  }
  json::Value tree = document.root().value();
  Upgrade upgrade = upgrade_program(tree, to_srepr_text);
  ExportedProgram program = ProgramReader().read(tree, nullptr, is_current ? version : kCurrentSchema, notes);
  if (!is_current) {
    notes.push_back(
        fmt::format("converted from schema {} to {}", to_string(upgrade.from), to_string(kCurrentSchema)));
  }
  for (std::string& note : upgrade.notes) notes.push_back(std::move(note));
  for (auto& [name, tensor] : upgrade.constants) program.constants.push_back({name, std::move(tensor)});
  return program;
}

}  // namespace flambeau::pt2
