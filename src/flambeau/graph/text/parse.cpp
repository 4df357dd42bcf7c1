#include "flambeau/graph/text/parse.h"

#include <fmt/format.h>

#include "flambeau/base/utf8.h"
#include "flambeau/graph/text/build.h"
#include "flambeau/graph/text/sections.h"
#include "flambeau/graph/text/signature.h"

namespace flambeau::graph {
namespace {

constexpr size_t kMaxText = size_t{1} << 30;

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
    add_signature(specs_, program_);
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

  void signature() {
    scanner_.expect(":");
    next();
    for (SpecText& spec : parse_signature(scanner_)) specs_.push_back(std::move(spec));
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

  std::vector<Argument> arguments(const std::vector<Literal>& literals, const std::vector<KindSpec>& kinds) {
    ArgumentMaker maker{program_.graph(), {}};
    std::vector<Argument> made;
    for (size_t i = 0; i < literals.size(); ++i) {
      made.push_back(maker.make(literals[i], kinds.empty() ? KindSpec() : kinds[i]));
    }
    return made;
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
