#include "flambeau/graph/text/signature.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/argument.h"
#include "flambeau/graph/text/sections.h"

namespace flambeau::graph {
namespace {

void spec_notes(TextScanner& scanner, SpecText& spec) {
  do {
    if (scanner.accept("constant")) {
      spec.constant = parse_literal(scanner);
    } else if (scanner.accept("=")) {
      spec.literal = parse_literal(scanner);
      if (scanner.accept("as")) spec.as = parse_kind(scanner);
    } else if (scanner.accept("as")) {
      spec.as = parse_kind(scanner);
    } else if (scanner.accept("json")) {
      const TextPlace place = scanner.place();
      spec.json = TextString{scanner.string("JSON in quotes"), place};
    } else if (scanner.accept("extra")) {
      const TextPlace place = scanner.place();
      spec.extras = TextString{scanner.string("JSON in quotes"), place};
    } else {
      scanner.fail_expected("a note that belongs here");
    }
  } while (scanner.accept(";"));
}

json::Member member_of(const TextString& text) {
  return at_place(text.place, [&] {
    json::Value tree = json::parse(text.text);
    if (tree.as_object().size() != 1) throw Error(ErrorCode::kCorrupt, "expected an object of one member");
    return std::move(tree.as_object().front());
  });
}

Argument argument(const SpecText& spec, Graph& graph) {
  ArgumentMaker maker{graph, {}};
  if (spec.literal) return maker.make(*spec.literal, spec.as);
  Literal name;
  name.kind = Literal::Kind::kName;
  if (!spec.name) fail_at(spec.place, "the entry names no value and has no constant");
  name.text = *spec.name;
  name.place = spec.place;
  return maker.make(name, spec.as);
}

InputKind input_kind(const SpecText& spec) {
  if (spec.constant && spec.kind == "USER_INPUT") return InputKind::kConstantInput;
  for (size_t i = 0; i <= static_cast<size_t>(InputKind::kUnknown); ++i) {
    if (input_kind_word(static_cast<InputKind>(i)) == spec.kind) return static_cast<InputKind>(i);
  }
  fail_at(spec.kind_place, fmt::format("'{}' is no kind of input", printable(spec.kind)));
}

OutputKind output_kind(const SpecText& spec) {
  for (size_t i = 0; i <= static_cast<size_t>(OutputKind::kUnknown); ++i) {
    if (output_kind_word(static_cast<OutputKind>(i)) == spec.kind) return static_cast<OutputKind>(i);
  }
  fail_at(spec.kind_place, fmt::format("'{}' is no kind of output", printable(spec.kind)));
}

ConstantValue constant(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::kNone:
      return {};
    case Literal::Kind::kInteger:
      return literal.integer;
    case Literal::Kind::kReal:
      return literal.number.real();
    case Literal::Kind::kString:
      return literal.text;
    case Literal::Kind::kBool:
      return literal.flag;
    default:
      fail_at(literal.place, "expected None, a number, a string, True or False");
  }
}

void add_input(const SpecText& spec, Extras extras, ExportedProgram& program) {
  InputSpec made;
  made.kind = input_kind(spec);
  made.extras = std::move(extras);
  if (made.kind == InputKind::kUnknown) {
    made.unknown = member_of(*spec.json);
  } else if (made.kind == InputKind::kConstantInput) {
    made.target = spec.name.value_or("");
    made.value = constant(*spec.constant);
  } else {
    made.argument = argument(spec, program.graph());
    made.target = spec.target.value_or("");
    made.persistent = spec.persistent.value_or(true);
  }
  program.signature.inputs.push_back(std::move(made));
}

void add_output(const SpecText& spec, Extras extras, ExportedProgram& program) {
  OutputSpec made;
  made.kind = output_kind(spec);
  made.extras = std::move(extras);
  if (made.kind == OutputKind::kUnknown) {
    made.unknown = member_of(*spec.json);
  } else {
    made.argument = argument(spec, program.graph());
    const bool is_of_input =
        made.kind == OutputKind::kGradientToUserInput || made.kind == OutputKind::kUserInputMutation;
    if (is_of_input && spec.target) {
      made.input = ValueRef(program.graph().value(*spec.target));
    } else {
      made.target = spec.target.value_or("");
    }
  }
  program.signature.outputs.push_back(std::move(made));
}

void add_spec(const SpecText& spec, ExportedProgram& program) {
  Extras extras;
  if (spec.extras) extras = parse_extras(spec.extras->text, spec.extras->place);
  if (spec.kind == "UNKNOWN" && !spec.json) {
    fail_at(spec.kind_place, "an entry of unknown kind needs json '{...}' in its comment");
  }
  if (spec.is_input) {
    add_input(spec, std::move(extras), program);
  } else {
    add_output(spec, std::move(extras), program);
  }
}

}  // namespace

std::vector<SpecText> parse_signature(TextScanner& scanner) {
  std::vector<SpecText> specs;
  bool is_input = true;
  while (!scanner.at_end() && scanner.indent() > 0) {
    if (scanner.last_comment() == "# inputs") is_input = true;
    if (scanner.last_comment() == "# outputs") is_input = false;
    SpecText& spec = specs.emplace_back();
    spec.is_input = is_input;
    spec.place = scanner.place();
    if (scanner.peek() != ':') spec.name = scanner.name("a name");
    scanner.expect(":");
    spec.kind_place = scanner.place();
    spec.kind = scanner.word("what it is, such as USER_INPUT");
    if (scanner.accept("target")) {
      scanner.expect("=");
      spec.target = scanner.string("a target in quotes");
    }
    if (scanner.accept("persistent")) {
      scanner.expect("=");
      spec.persistent = scanner.accept("True");
      if (!*spec.persistent) scanner.expect("False");
    }
    if (scanner.accept("#|")) spec_notes(scanner, spec);
    scanner.expect_line_end();
    scanner.next_line();
  }
  return specs;
}

void add_signature(const std::vector<SpecText>& specs, ExportedProgram& program) {
  for (const SpecText& spec : specs) add_spec(spec, program);
}

}  // namespace flambeau::graph
