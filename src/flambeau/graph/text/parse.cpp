#include "flambeau/graph/text/parse.h"

#include <fmt/format.h>

#include "flambeau/base/utf8.h"
#include "flambeau/graph/text/build.h"
#include "flambeau/graph/text/sections.h"

namespace flambeau::graph {
namespace {

constexpr size_t kMaxText = size_t{1} << 30;

struct SpecText {
  bool is_input = true;
  std::optional<std::string> name;
  TextPlace place;
  std::string_view kind;
  TextPlace kind_place;
  std::optional<std::string> target;
  std::optional<bool> persistent;
  std::optional<Literal> constant;  // of constant inputs
  std::optional<Literal> literal;
  KindSpec as;
  std::optional<TextString> json;
  std::optional<TextString> extras;
};

struct CallText {
  std::vector<Literal> inputs, outputs;
  std::vector<KindSpec> input_kinds, output_kinds;
};

class ProgramParser {
 public:
  explicit ProgramParser(std::string_view text) : scanner_(text) {}

  ExportedProgram parse() {
    program_.has_weights = false;
    program_.schema_version = {0, 0};
    header();
    scanner_.expect("ExportedProgram");
    scanner_.expect(":");
    next();
    graph_ = parse_graph_text(scanner_);
    while (!scanner_.at_end()) section();
    TextTables tables{program_.style, std::move(exprs_), std::move(texts_), {}};
    build_graph(*graph_, tables, program_.graph());
    for (SpecText& spec : specs_) add_spec(spec);
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!program_.module_call_graph[i].signature) continue;
      program_.module_call_graph[i].signature->inputs = arguments(calls_[i].inputs, calls_[i].input_kinds);
      program_.module_call_graph[i].signature->outputs = arguments(calls_[i].outputs, calls_[i].output_kinds);
    }
    return std::move(program_);
  }

 private:
  void next() {
    scanner_.expect_line_end();
    scanner_.next_line();
  }

  void header() {
    while (scanner_.accept("#|")) {
      const bool is_with = scanner_.accept("with");
      if (is_with || scanner_.accept("without")) {
        const std::string_view word = scanner_.word("a habit of the file");
        bool is_known = false;
        for (const StyleFlag& flag : kStyleFlags) {
          if (flag.name != word) continue;
          program_.style.*flag.flag = is_with;
          is_known = true;
        }
        if (!is_known) scanner_.fail(fmt::format("'{}' is not known", printable(word)));
      } else {
        scanner_.expect("flambeau");
        scanner_.expect("text");
        if (const int64_t version = scanner_.integer("the version of the text form"); version != 1) {
          at_place(scanner_.place(), [&] {
            throw Error(ErrorCode::kUnsupported,
                        fmt::format("version {} of the text form; this version knows 1", version));
          });
        }
      }
      next();
    }
  }

  // Calls `line` for each line that is indented.
  template <typename Line>
  void lines(Line&& line) {
    scanner_.expect(":");
    next();
    while (!scanner_.at_end() && scanner_.indent() > 0) line();
  }

  std::string quoted(std::string_view what) { return scanner_.string(what); }

  void extras_if_any(Extras& to) {
    if (!scanner_.accept("extra")) return;
    const TextPlace place = scanner_.place();
    to = parse_extras(quoted("JSON in quotes"), place);
  }

  void section() {
    if (scanner_.indent() != 0) scanner_.fail_expected("a section");
    if (scanner_.accept("Graph signature")) return signature();
    if (scanner_.accept("Range constraints")) return ranges();
    if (scanner_.accept("Expressions")) return lines([&] { expression(); });
    if (scanner_.accept("Module calls")) return lines([&] { module_call(); });
    if (scanner_.accept("Metadata")) {
      return lines([&] {
        std::string key = quoted("a key");
        scanner_.expect("=");
        program_.metadata.emplace_back(std::move(key), quoted("a text"));
        next();
      });
    }
    if (scanner_.accept("Named tuples")) return lines([&] { named_tuple(); });
    if (scanner_.accept("Guards")) return lines([&] { string_line(program_.guards_code); });
    if (scanner_.accept("Opset version")) {
      return lines([&] {
        std::string key = quoted("a namespace");
        scanner_.expect("=");
        program_.opset_version.emplace_back(std::move(key), scanner_.integer("a version"));
        next();
      });
    }
    if (scanner_.accept("Verifiers")) return lines([&] { string_line(program_.verifiers); });
    if (scanner_.accept("Texts")) return lines([&] { long_text(); });
    if (scanner_.accept("Schema version")) {
      scanner_.expect(":");
      schema_version();
    } else if (scanner_.accept("Torch version")) {
      scanner_.expect(":");
      program_.torch_version = quoted("a version");
    } else if (scanner_.accept("Graph module extra")) {
      all_extras(program_.graph_module_extras);
    } else if (scanner_.accept("Signature extra")) {
      all_extras(program_.signature.extras);
    } else if (scanner_.accept("Extra")) {
      all_extras(program_.extras);
    } else {
      scanner_.fail_expected("a section");
    }
    next();
  }

  void all_extras(Extras& to) {
    scanner_.expect(":");
    const TextPlace place = scanner_.place();
    to = parse_extras(quoted("JSON in quotes"), place);
  }

  // "8.20" is two numbers: 8.2 is another version.
  void schema_version() {
    const TextPlace place = scanner_.place();
    const std::string_view text = scanner_.number_text();
    const size_t point = text.find('.');
    TextScanner major(text.substr(0, point));
    TextScanner minor(point == std::string_view::npos ? std::string_view() : text.substr(point + 1));
    at_place(place, [&] {
      if (point == std::string_view::npos)
        throw Error(ErrorCode::kCorrupt, "expected a version such as 8.20");
      program_.schema_version.major = major.integer("a version such as 8.20");
      major.expect_line_end();
      program_.schema_version.minor = minor.integer("a version such as 8.20");
      minor.expect_line_end();
    });
  }

  void string_line(std::vector<std::string>& to) {
    to.push_back(quoted("a text"));
    next();
  }

  void long_text() {
    scanner_.expect("@");
    const TextPlace place = scanner_.place();
    const int64_t number = scanner_.integer("the number of a text");
    scanner_.expect("=");
    if (!texts_.emplace(static_cast<uint64_t>(number), quoted("a text")).second) {
      fail_at(place, fmt::format("there is a text @{} already", number));
    }
    next();
  }

  void named_tuple() {
    ExportedProgram::NamedTupleDef& tuple = program_.named_tuples.emplace_back();
    tuple.name = quoted("a type");
    scanner_.expect("=");
    tuple.fields = string_list();
    extras_if_any(tuple.extras);
    next();
  }

  std::vector<std::string> string_list() {
    std::vector<std::string> list;
    scanner_.expect("[");
    while (!scanner_.accept("]")) {
      list.push_back(quoted("a text"));
      if (scanner_.accept(",")) continue;
      scanner_.expect("]");
      break;
    }
    return list;
  }

  void expression() {
    const TextPlace place = scanner_.place();
    std::string name = quoted("an expression");
    scanner_.expect("=");
    SymExpr made;
    made.text = quoted("the expression as in the file");
    if (scanner_.accept("hint")) {
      const Literal hint = parse_literal(scanner_);
      switch (hint.kind) {
        case Literal::Kind::kInteger:
          made.hint = hint.integer;
          break;
        case Literal::Kind::kBool:
          made.hint = hint.flag;
          break;
        case Literal::Kind::kReal:
          made.hint = hint.number.real();
          break;
        default:
          fail_at(hint.place, "a hint is a number, True or False");
      }
    }
    extras_if_any(made.extras);
    next();
    if (!exprs_.emplace(std::move(name), std::make_shared<const SymExpr>(std::move(made))).second) {
      fail_at(place, "there is an expression of that name already");
    }
  }

  void ranges() {
    scanner_.expect(":");
    scanner_.expect("{");
    const auto bound = [&](std::string_view unbounded) -> std::optional<int64_t> {
      if (scanner_.accept(unbounded)) return std::nullopt;
      return scanner_.integer("a bound");
    };
    while (!scanner_.accept("}")) {
      auto& [symbol, range] = program_.range_constraints.emplace_back();
      symbol = scanner_.name("a symbol");
      for (const char* token : {":", "VR", "["}) scanner_.expect(token);
      range.min = bound("-int_oo");
      scanner_.expect(",");
      range.max = bound("int_oo");
      scanner_.expect("]");
      extras_if_any(range.extras);
      if (scanner_.accept(",")) continue;
      scanner_.expect("}");
      break;
    }
    next();
  }

  void signature() {
    scanner_.expect(":");
    next();
    bool is_input = true;
    while (!scanner_.at_end() && scanner_.indent() > 0) {
      if (scanner_.last_comment() == "# inputs") is_input = true;
      if (scanner_.last_comment() == "# outputs") is_input = false;
      SpecText& spec = specs_.emplace_back();
      spec.is_input = is_input;
      spec.place = scanner_.place();
      if (scanner_.peek() != ':') spec.name = scanner_.name("a name");
      scanner_.expect(":");
      spec.kind_place = scanner_.place();
      spec.kind = scanner_.word("what it is, such as USER_INPUT");
      if (scanner_.accept("target")) {
        scanner_.expect("=");
        spec.target = quoted("a target in quotes");
      }
      if (scanner_.accept("persistent")) {
        scanner_.expect("=");
        spec.persistent = scanner_.accept("True");
        if (!*spec.persistent) scanner_.expect("False");
      }
      if (scanner_.accept("#|")) spec_notes(spec);
      next();
    }
  }

  void spec_notes(SpecText& spec) {
    do {
      if (scanner_.accept("constant")) {
        spec.constant = parse_literal(scanner_);
      } else if (scanner_.accept("=")) {
        spec.literal = parse_literal(scanner_);
        if (scanner_.accept("as")) spec.as = parse_kind(scanner_);
      } else if (scanner_.accept("as")) {
        spec.as = parse_kind(scanner_);
      } else if (scanner_.accept("json")) {
        const TextPlace place = scanner_.place();
        spec.json = TextString{quoted("JSON in quotes"), place};
      } else if (scanner_.accept("extra")) {
        const TextPlace place = scanner_.place();
        spec.extras = TextString{quoted("JSON in quotes"), place};
      } else {
        scanner_.fail_expected("a note that belongs here");
      }
    } while (scanner_.accept(";"));
  }

  static json::Member member_of(const TextString& text) {
    return at_place(text.place, [&] {
      json::Value tree = json::parse(text.text);
      if (tree.as_object().size() != 1) throw Error(ErrorCode::kCorrupt, "expected an object of one member");
      return std::move(tree.as_object().front());
    });
  }

  Argument argument(const SpecText& spec) {
    ArgumentMaker maker{program_.graph(), {}};
    if (spec.literal) return maker.make(*spec.literal, spec.as);
    Literal name;
    name.kind = Literal::Kind::kName;
    if (!spec.name) fail_at(spec.place, "the entry names no value and has no constant");
    name.text = *spec.name;
    name.place = spec.place;
    return maker.make(name, spec.as);
  }

  std::vector<Argument> arguments(const std::vector<Literal>& literals, const std::vector<KindSpec>& kinds) {
    ArgumentMaker maker{program_.graph(), {}};
    std::vector<Argument> made;
    for (size_t i = 0; i < literals.size(); ++i) {
      made.push_back(maker.make(literals[i], kinds.empty() ? KindSpec() : kinds[i]));
    }
    return made;
  }

  void add_spec(const SpecText& spec) {
    Extras extras;
    if (spec.extras) extras = parse_extras(spec.extras->text, spec.extras->place);
    if (spec.kind == "UNKNOWN" && !spec.json) {
      fail_at(spec.kind_place, "an entry of unknown kind needs json '{...}' in its comment");
    }
    if (spec.is_input) {
      add_input(spec, std::move(extras));
    } else {
      add_output(spec, std::move(extras));
    }
  }

  void add_input(const SpecText& spec, Extras extras) {
    InputSpec made;
    made.kind = input_kind(spec);
    made.extras = std::move(extras);
    if (made.kind == InputKind::kUnknown) {
      made.unknown = member_of(*spec.json);
    } else if (made.kind == InputKind::kConstantInput) {
      made.target = spec.name.value_or("");
      made.value = constant(*spec.constant);
    } else {
      made.argument = argument(spec);
      made.target = spec.target.value_or("");
      made.persistent = spec.persistent.value_or(true);
    }
    program_.signature.inputs.push_back(std::move(made));
  }

  void add_output(const SpecText& spec, Extras extras) {
    OutputSpec made;
    made.kind = output_kind(spec);
    made.extras = std::move(extras);
    if (made.kind == OutputKind::kUnknown) {
      made.unknown = member_of(*spec.json);
    } else {
      made.argument = argument(spec);
      const bool is_of_input =
          made.kind == OutputKind::kGradientToUserInput || made.kind == OutputKind::kUserInputMutation;
      if (is_of_input && spec.target) {
        made.input = ValueRef(program_.graph().value(*spec.target));
      } else {
        made.target = spec.target.value_or("");
      }
    }
    program_.signature.outputs.push_back(std::move(made));
  }

  static InputKind input_kind(const SpecText& spec) {
    if (spec.constant && spec.kind == "USER_INPUT") return InputKind::kConstantInput;
    for (size_t i = 0; i <= static_cast<size_t>(InputKind::kUnknown); ++i) {
      if (input_kind_word(static_cast<InputKind>(i)) == spec.kind) return static_cast<InputKind>(i);
    }
    fail_at(spec.kind_place, fmt::format("'{}' is no kind of input", printable(spec.kind)));
  }

  static OutputKind output_kind(const SpecText& spec) {
    for (size_t i = 0; i <= static_cast<size_t>(OutputKind::kUnknown); ++i) {
      if (output_kind_word(static_cast<OutputKind>(i)) == spec.kind) return static_cast<OutputKind>(i);
    }
    fail_at(spec.kind_place, fmt::format("'{}' is no kind of output", printable(spec.kind)));
  }

  static ConstantValue constant(const Literal& literal) {
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

  void argument_list(std::vector<Literal>& literals, std::vector<KindSpec>& kinds) {
    scanner_.expect(":");
    scanner_.expect("(");
    literals = parse_literals(scanner_, ")");
    if (!scanner_.accept("as")) return;
    const TextPlace place = scanner_.place();
    kinds = parse_kinds(scanner_);
    if (kinds.size() != literals.size()) fail_at(place, "there are not as many kinds as arguments");
  }

  // A module's name, and deeper its signature.
  void module_call() {
    if (scanner_.peek() == '\'' || scanner_.peek() == '"') {
      ModuleCallEntry& entry = program_.module_call_graph.emplace_back();
      calls_.emplace_back();
      entry.fqn = quoted("a module's name");
      extras_if_any(entry.extras);
      return next();
    }
    if (calls_.empty()) scanner_.fail_expected("a module's name in quotes");
    std::optional<ModuleCallSignature>& signature = program_.module_call_graph.back().signature;
    if (!signature) signature.emplace();
    if (scanner_.accept("inputs")) {
      argument_list(calls_.back().inputs, calls_.back().input_kinds);
    } else if (scanner_.accept("outputs")) {
      argument_list(calls_.back().outputs, calls_.back().output_kinds);
    } else if (scanner_.accept("in_spec")) {
      scanner_.expect(":");
      signature->in_spec = quoted("a tree in quotes");
    } else if (scanner_.accept("out_spec")) {
      scanner_.expect(":");
      signature->out_spec = quoted("a tree in quotes");
    } else if (scanner_.accept("forward_arg_names")) {
      scanner_.expect(":");
      signature->forward_arg_names = string_list();
    } else if (scanner_.peek_word() == "extra") {
      extras_if_any(signature->extras);
    } else {
      scanner_.fail_expected("inputs, outputs, in_spec, out_spec, forward_arg_names or extra");
    }
    next();
  }

  TextScanner scanner_;
  ExportedProgram program_;
  std::unique_ptr<GraphText> graph_;
  std::vector<SpecText> specs_;
  std::vector<CallText> calls_;
  std::unordered_map<std::string, std::shared_ptr<const SymExpr>> exprs_;
  std::unordered_map<uint64_t, std::string> texts_;
};

}  // namespace

ExportedProgram parse_text(std::string_view text) {
  if (text.size() > kMaxText) throw Error(ErrorCode::kLimit, "the text is over 1 GiB");
  if (!is_valid_utf8(text)) throw Error(ErrorCode::kCorrupt, "the text is not UTF-8");
  return ProgramParser(text).parse();
}

}  // namespace flambeau::graph
