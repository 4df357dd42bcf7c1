#include "flambeau/graph/text/sections.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/notes.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

std::string string_list(const std::vector<std::string>& list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i > 0 ? ", " : "") + python_repr(list[i]);
  return out + "]";
}

class SectionPrinter {
 public:
  explicit SectionPrinter(TextContext& context)
      : context_(context), program_(context.program), out_(context.out) {
    names_.lossless = true;
    names_.value = [](const Value& value) { return name_token(value.name()); };
    names_.graph = [](const GraphArgument& inner) -> std::string {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the graph '{}' is no argument of a node: the text form has no place for it",
                              printable(inner.name)));
    };
  }

  void print() {
    signature();
    ranges();
    expressions();
    module_calls();
    string_map("Metadata", program_.metadata);
    named_tuples();
    strings("Guards", program_.guards_code);
    opset();
    out_ +=
        fmt::format("Schema version: {}.{}\n", program_.schema_version.major, program_.schema_version.minor);
    strings("Verifiers", program_.verifiers);
    if (!program_.torch_version.empty())
      out_ += "Torch version: " + python_repr(program_.torch_version) + "\n";
    extras("Graph module extra", program_.graph_module_extras);
    extras("Signature extra", program_.signature.extras);
    extras("Extra", program_.extras);
    texts();
  }

 private:
  std::string atom(const Argument& argument) {
    std::string text;
    append_atom(text, argument, names_);
    return text;
  }

  // The name, and in the notes what it does not say.
  std::string named(const Argument& argument, Notes& notes) {
    const std::string kind = kind_note(argument);
    if (const Value* const value = argument.value()) {
      if (!kind.empty()) notes.add("as " + kind);
      return name_token(value->name());
    }
    notes.add("= " + atom(argument) + (kind.empty() ? "" : " as " + kind));
    return "";
  }

  static std::string unknown_note(const json::Member& member) {
    return "json " + python_repr(json::dump(json::Value(json::Object{member})));
  }

  static std::string constant_note(const ConstantValue& value) {
    std::string out = "constant ";
    if (const auto* const integer = std::get_if<int64_t>(&value)) return out + std::to_string(*integer);
    if (const auto* const real = std::get_if<double>(&value)) return out + python_repr(*real);
    if (const auto* const text = std::get_if<std::string>(&value)) return out + python_repr(*text);
    if (const auto* const flag = std::get_if<bool>(&value)) return out + (*flag ? "True" : "False");
    return out + "None";
  }

  void signature() {
    out_ += "Graph signature: \n    # inputs\n";
    for (const InputSpec& spec : program_.signature.inputs) input(spec);
    out_ += "    \n    # outputs\n";
    for (const OutputSpec& spec : program_.signature.outputs) output(spec);
    out_ += "    \n";
  }

  void input(const InputSpec& spec) {
    Notes notes;
    std::string text;
    if (spec.kind == InputKind::kConstantInput) {
      text = spec.target.empty() ? "" : name_token(spec.target);
      notes.add(constant_note(spec.value));
    } else if (spec.kind == InputKind::kUnknown) {
      notes.add(unknown_note(spec.unknown));
    } else {
      text = named(spec.argument, notes);
    }
    text += fmt::format(": {}", input_kind_word(spec.kind));
    switch (spec.kind) {
      case InputKind::kParameter:
      case InputKind::kBuffer:
      case InputKind::kTensorConstant:
      case InputKind::kCustomObj:
        text += " target=" + python_repr(spec.target);
        break;
      default:
        break;
    }
    if (spec.kind == InputKind::kBuffer) text += spec.persistent ? " persistent=True" : " persistent=False";
    notes.add(extras_note("extra", spec.extras));
    out_ += "    " + text + notes.text() + "\n";
  }

  void output(const OutputSpec& spec) {
    Notes notes;
    std::string text;
    if (spec.kind == OutputKind::kUnknown) {
      notes.add(unknown_note(spec.unknown));
    } else {
      text = named(spec.argument, notes);
    }
    text += fmt::format(": {}", output_kind_word(spec.kind));
    switch (spec.kind) {
      case OutputKind::kBufferMutation:
      case OutputKind::kGradientToParameter:
      case OutputKind::kParameterMutation:
        text += " target=" + python_repr(spec.target);
        break;
      case OutputKind::kGradientToUserInput:
      case OutputKind::kUserInputMutation:
        if (spec.input) text += " target=" + python_repr(spec.input->name());
        break;
      default:
        break;
    }
    notes.add(extras_note("extra", spec.extras));
    out_ += "    " + text + notes.text() + "\n";
  }

  // All of them, also those that PyTorch drops.
  void ranges() {
    std::string text;
    for (const auto& [symbol, range] : program_.range_constraints) {
      if (!text.empty()) text += ", ";
      text += fmt::format("{}: VR[{}, {}]", name_token(symbol),
                          range.min ? std::to_string(*range.min) : "-int_oo",
                          range.max ? std::to_string(*range.max) : "int_oo");
      if (!range.extras.empty()) text += " " + extras_note("extra", range.extras);
    }
    out_ += "Range constraints: {" + text + "}\n";
  }

  void expressions() {
    if (context_.exprs.entries().empty()) return;
    out_ += "Expressions:\n";
    for (const ExprNames::Entry& entry : context_.exprs.entries()) {
      out_ += fmt::format("    {} = {}", python_repr(entry.name), python_repr(entry.expr->text));
      const auto& hint = entry.expr->hint;
      if (const auto* const integer = std::get_if<int64_t>(&hint)) out_ += fmt::format(" hint {}", *integer);
      if (const auto* const flag = std::get_if<bool>(&hint)) out_ += *flag ? " hint True" : " hint False";
      if (const auto* const real = std::get_if<double>(&hint)) out_ += " hint " + python_repr(*real);
      if (!entry.expr->extras.empty()) out_ += " " + extras_note("extra", entry.expr->extras);
      out_ += '\n';
    }
  }

  void argument_list(std::string_view word, const std::vector<Argument>& arguments) {
    out_ += fmt::format("        {}: (", word);
    for (size_t i = 0; i < arguments.size(); ++i) out_ += (i > 0 ? ", " : "") + atom(arguments[i]);
    out_ += arguments.size() == 1 ? ",)" : ")";
    const std::string kinds = kinds_note(arguments);
    if (!kinds.empty()) out_ += " " + kinds;
    out_ += '\n';
  }

  void module_calls() {
    if (program_.module_call_graph.empty()) return;
    out_ += "Module calls:\n";
    for (const ModuleCallEntry& entry : program_.module_call_graph) {
      out_ += "    " + python_repr(entry.fqn);
      if (!entry.extras.empty()) out_ += " " + extras_note("extra", entry.extras);
      out_ += '\n';
      if (!entry.signature) continue;
      argument_list("inputs", entry.signature->inputs);
      argument_list("outputs", entry.signature->outputs);
      out_ += "        in_spec: " + python_repr(entry.signature->in_spec) + "\n";
      out_ += "        out_spec: " + python_repr(entry.signature->out_spec) + "\n";
      if (entry.signature->forward_arg_names) {
        out_ += "        forward_arg_names: " + string_list(*entry.signature->forward_arg_names) + "\n";
      }
      if (!entry.signature->extras.empty()) {
        out_ += "        " + extras_note("extra", entry.signature->extras) + "\n";
      }
    }
  }

  void string_map(std::string_view title, const StringMap& map) {
    if (map.empty()) return;
    out_ += fmt::format("{}:\n", title);
    for (const auto& [key, text] : map)
      out_ += fmt::format("    {} = {}\n", python_repr(key), python_repr(text));
  }

  void named_tuples() {
    if (program_.named_tuples.empty()) return;
    out_ += "Named tuples:\n";
    for (const ExportedProgram::NamedTupleDef& tuple : program_.named_tuples) {
      out_ += fmt::format("    {} = {}", python_repr(tuple.name), string_list(tuple.fields));
      if (!tuple.extras.empty()) out_ += " " + extras_note("extra", tuple.extras);
      out_ += '\n';
    }
  }

  void strings(std::string_view title, const std::vector<std::string>& list) {
    if (list.empty()) return;
    out_ += fmt::format("{}:\n", title);
    for (const std::string& text : list) out_ += "    " + python_repr(text) + "\n";
  }

  void opset() {
    if (program_.opset_version.empty()) return;
    out_ += "Opset version:\n";
    for (const auto& [name, version] : program_.opset_version) {
      out_ += fmt::format("    {} = {}\n", python_repr(name), version);
    }
  }

  void extras(std::string_view title, const Extras& members) {
    if (members.empty()) return;
    out_ += fmt::format("{}: {}\n", title, python_repr(json::dump(json::Value(members.members()))));
  }

  void texts() {
    if (context_.texts.texts().empty()) return;
    out_ += "Texts:\n";
    size_t number = 0;
    for (const std::string* text : context_.texts.texts()) {
      out_ += fmt::format("    @{} = {}\n", ++number, python_repr(*text));
    }
  }

  TextContext& context_;
  const ExportedProgram& program_;
  std::string& out_;
  AtomNames names_;
};

}  // namespace

std::string_view input_kind_word(InputKind kind) {
  static constexpr std::string_view kWords[] = {"USER_INPUT", "PARAMETER", "BUFFER",     "CONSTANT_TENSOR",
                                                "CUSTOM_OBJ", "TOKEN",     "USER_INPUT", "UNKNOWN"};
  return kWords[static_cast<size_t>(kind)];
}

std::string_view output_kind_word(OutputKind kind) {
  static constexpr std::string_view kWords[] = {"USER_OUTPUT",
                                                "LOSS_OUTPUT",
                                                "BUFFER_MUTATION",
                                                "GRADIENT_TO_PARAMETER",
                                                "GRADIENT_TO_USER_INPUT",
                                                "USER_INPUT_MUTATION",
                                                "TOKEN",
                                                "PARAMETER_MUTATION",
                                                "UNKNOWN"};
  return kWords[static_cast<size_t>(kind)];
}

void print_header(TextContext& context) {
  context.out += "#| flambeau text 1\n";
  const ExportedProgram::Style usual;
  for (const StyleFlag& flag : kStyleFlags) {
    const bool is_set = context.program.style.*flag.flag;
    if (is_set != usual.*flag.flag) {
      context.out += fmt::format("#| {} {}\n", is_set ? "with" : "without", flag.name);
    }
  }
}

void print_sections(TextContext& context) { SectionPrinter(context).print(); }

}  // namespace flambeau::graph
