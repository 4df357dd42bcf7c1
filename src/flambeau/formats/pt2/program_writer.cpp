#include <fmt/format.h>

#include "flambeau/archive/json/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/graph_writer.h"
#include "flambeau/formats/pt2/program_json.h"

namespace flambeau::pt2 {
namespace {

using graph::ArgumentKind;
using graph::ExportedProgram;
using graph::InputKind;
using graph::InputSpec;
using graph::OutputKind;
using graph::OutputSpec;
using graph::ValueRef;

class ProgramWriter {
 public:
  explicit ProgramWriter(const ExportedProgram& program) : program_(program), graph_(out_, program.style) {}

  std::string write() {
    out_.begin_object();
    out_.key("graph_module");
    graph_module();
    out_.key("opset_version");
    out_.begin_object();
    for (const auto& [name, version] : program_.opset_version) {
      out_.key(name);
      out_.integer(version);
    }
    out_.end_object();
    out_.key("range_constraints");
    out_.begin_object();
    for (const auto& [symbol, range] : program_.range_constraints) {
      out_.key(symbol);
      out_.begin_object();
      out_.key("min_val");
      bound(range.min);
      out_.key("max_val");
      bound(range.max);
      graph_.meta().extras(range.extras);
      out_.end_object();
    }
    out_.end_object();
    out_.key("schema_version");
    out_.begin_object();
    out_.key("major");
    out_.integer(program_.schema_version.major);
    out_.key("minor");
    out_.integer(program_.schema_version.minor);
    out_.end_object();
    if (program_.style.has_verifiers) {
      out_.key("verifiers");
      graph_.string_list(program_.verifiers);
    }
    if (program_.style.has_torch_version) {
      out_.key("torch_version");
      out_.string(program_.torch_version);
    }
    if (program_.style.has_guards_code) {
      out_.key("guards_code");
      graph_.string_list(program_.guards_code);
    }
    graph_.meta().extras(program_.extras);
    out_.end_object();
    return out_.take();
  }

 private:
  void bound(const std::optional<int64_t>& value) {
    if (value) {
      out_.integer(*value);
    } else {
      out_.null();
    }
  }

  void graph_module() {
    out_.begin_object();
    out_.key("graph");
    graph_.graph(program_.graph());
    out_.key("signature");
    out_.begin_object();
    out_.key("input_specs");
    out_.begin_array();
    for (const InputSpec& spec : program_.signature.inputs) input_spec(spec);
    out_.end_array();
    out_.key("output_specs");
    out_.begin_array();
    for (const OutputSpec& spec : program_.signature.outputs) output_spec(spec);
    out_.end_array();
    graph_.meta().extras(program_.signature.extras);
    out_.end_object();
    out_.key("module_call_graph");
    out_.begin_array();
    for (const graph::ModuleCallEntry& entry : program_.module_call_graph) module_call(entry);
    out_.end_array();
    if (program_.style.has_metadata) {
      out_.key("metadata");
      graph_.string_map(program_.metadata);
    }
    if (program_.style.has_named_tuples) {
      out_.key("treespec_namedtuple_fields");
      out_.begin_object();
      for (const ExportedProgram::NamedTupleDef& tuple : program_.named_tuples) {
        out_.key(tuple.name);
        out_.begin_object();
        out_.key("field_names");
        graph_.string_list(tuple.fields);
        graph_.meta().extras(tuple.extras);
        out_.end_object();
      }
      out_.end_object();
    }
    graph_.meta().extras(program_.graph_module_extras);
    out_.end_object();
  }

  // "arg": {"name": ...}.
  void tensor(const graph::Argument& argument) {
    out_.key("arg");
    if (!argument.is(ArgumentKind::kTensor)) {
      throw Error(ErrorCode::kInvalidArgument, "a specification of the signature names no tensor");
    }
    graph_.named(argument.get<ArgumentKind::kTensor>());
  }

  void text(std::string_view key, std::string_view value) {
    out_.key(key);
    out_.string(value);
  }

  void unknown(const json::Member& member) {
    out_.begin_object();
    out_.key(member.first);
    out_.value(member.second);
    out_.end_object();
  }

  void input_spec(const InputSpec& spec) {
    if (spec.kind == InputKind::kUnknown) return unknown(spec.unknown);
    out_.begin_object();
    out_.key(graph::input_kind_key(spec.kind));
    out_.begin_object();
    switch (spec.kind) {
      case InputKind::kUserInput:
        out_.key("arg");
        graph_.argument(spec.argument);
        break;
      case InputKind::kParameter:
        tensor(spec.argument);
        text("parameter_name", spec.target);
        break;
      case InputKind::kBuffer:
        tensor(spec.argument);
        text("buffer_name", spec.target);
        out_.key("persistent");
        out_.boolean(spec.persistent);
        break;
      case InputKind::kTensorConstant:
        tensor(spec.argument);
        text("tensor_constant_name", spec.target);
        break;
      case InputKind::kCustomObj:
        out_.key("arg");
        graph_.custom_obj(spec.argument.get<ArgumentKind::kCustomObj>());
        text("custom_obj_name", spec.target);
        break;
      case InputKind::kToken:
        tensor(spec.argument);
        break;
      case InputKind::kConstantInput:
        text("name", spec.target);
        out_.key("value");
        constant(spec.value);
        break;
      case InputKind::kUnknown:
        break;
    }
    graph_.meta().extras(spec.extras);
    out_.end_object();
    out_.end_object();
  }

  void constant(const graph::ConstantValue& value) {
    out_.begin_object();
    if (const auto* const integer = std::get_if<int64_t>(&value)) {
      out_.key("as_int");
      out_.integer(*integer);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      out_.key("as_float");
      graph_.meta().real(*real);
    } else if (const auto* const string = std::get_if<std::string>(&value)) {
      text("as_string", *string);
    } else if (const auto* const boolean = std::get_if<bool>(&value)) {
      out_.key("as_bool");
      out_.boolean(*boolean);
    } else {
      out_.key("as_none");
      out_.boolean(true);
    }
    out_.end_object();
  }

  void output_spec(const OutputSpec& spec) {
    if (spec.kind == OutputKind::kUnknown) return unknown(spec.unknown);
    out_.begin_object();
    out_.key(graph::output_kind_key(spec.kind));
    out_.begin_object();
    if (spec.kind == OutputKind::kUserOutput) {
      out_.key("arg");
      graph_.argument(spec.argument);
    } else {
      tensor(spec.argument);
    }
    switch (spec.kind) {
      case OutputKind::kBufferMutation:
        text("buffer_name", spec.target);
        break;
      case OutputKind::kGradientToParameter:
      case OutputKind::kParameterMutation:
        text("parameter_name", spec.target);
        break;
      case OutputKind::kGradientToUserInput:
      case OutputKind::kUserInputMutation:
        if (!spec.input)
          throw Error(ErrorCode::kInvalidArgument, "a mutation of the signature names no input");
        text("user_input_name", spec.input->name());
        break;
      default:
        break;
    }
    graph_.meta().extras(spec.extras);
    out_.end_object();
    out_.end_object();
  }

  void module_call(const graph::ModuleCallEntry& entry) {
    out_.begin_object();
    text("fqn", entry.fqn);
    if (entry.signature || !program_.style.omits_nulls) out_.key("signature");
    if (entry.signature) {
      const graph::ModuleCallSignature& call = *entry.signature;
      out_.begin_object();
      out_.key("inputs");
      graph_.arguments(call.inputs);
      out_.key("outputs");
      graph_.arguments(call.outputs);
      text("in_spec", call.in_spec);
      text("out_spec", call.out_spec);
      if (program_.style.has_forward_arg_names && (call.forward_arg_names || !program_.style.omits_nulls)) {
        out_.key("forward_arg_names");
        if (call.forward_arg_names) {
          graph_.string_list(*call.forward_arg_names);
        } else {
          out_.null();
        }
      }
      graph_.meta().extras(call.extras);
      out_.end_object();
    } else if (!program_.style.omits_nulls) {
      out_.null();
    }
    graph_.meta().extras(entry.extras);
    out_.end_object();
  }

  const ExportedProgram& program_;
  json::Writer out_;
  GraphWriter graph_;
};

}  // namespace

std::string write_program(const ExportedProgram& program) { return ProgramWriter(program).write(); }

}  // namespace flambeau::pt2
