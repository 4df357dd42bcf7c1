#include "flambeau/graph/text/tree.h"

#include <fmt/format.h>

#include "flambeau/graph/text/atoms.h"
#include "flambeau/graph/text/operators.h"

namespace flambeau::graph {
namespace {

constexpr size_t kMaxGraphDepth = 100;

TextString quoted(TextScanner& scanner, std::string_view what) {
  const TextPlace place = scanner.place();
  return {scanner.string(what), place};
}

// A note about the value; false when it is none.
bool value_note(TextScanner& scanner, ValueText& to) {
  const char c = scanner.peek();
  if (c == '\'' || c == '"') {
    to.type = quoted(scanner, "a type");
    return true;
  }
  if (scanner.peek_word() == "device") {
    to.more().device = parse_literal(scanner);
    return true;
  }
  if (scanner.accept("grad")) {
    to.more().grad = true;
  } else if (scanner.accept("strides")) {
    to.more().strides = quoted(scanner, "strides in quotes");
  } else if (scanner.accept("offset")) {
    to.more().offset = quoted(scanner, "an offset in quotes");
  } else if (scanner.accept("device_extra")) {
    to.more().device_extras = quoted(scanner, "JSON in quotes");
  } else if (scanner.accept("extra")) {
    to.more().extras = quoted(scanner, "JSON in quotes");
  } else if (scanner.accept("layout")) {
    const TextPlace place = scanner.place();
    const std::string_view word = scanner.word("a layout");
    to.more().layout = layout_from_name(word);
    if (!to.more().layout) fail_at(place, fmt::format("'{}' is no layout", printable(word)));
  } else if (scanner.accept("object")) {
    to.more().object_name = scanner.string("an object's name");
    to.more().object_class = scanner.string("an object's class");
  } else {
    const std::string_view word = scanner.peek_word();
    if (word != "sym_int" && word != "sym_float" && word != "sym_bool") return false;
    scanner.word("a kind");
    ArgumentKind kind = ArgumentKind::kSymInt;
    kind_from_word(word, kind);
    to.more().sym = kind;
    const char next = scanner.peek();
    if (next != ';' && next != '\0') to.more().number = parse_literal(scanner);
  }
  return true;
}

[[noreturn]] void fail_note(TextScanner& scanner) { scanner.fail_expected("a note that belongs here"); }

// Calls `note` for each of the notes up to the end of the line.
template <typename Note>
void notes(TextScanner& scanner, Note&& note) {
  do {
    if (scanner.at_line_end()) break;
    note();
  } while (scanner.accept(";"));
  scanner.expect_line_end();
}

PassedBy passed_by(char mark) {
  switch (mark) {
    case '~':
      return PassedBy::kUnsaid;
    case '?':
      return PassedBy::kUnknown;
    case '+':
      return PassedBy::kPositional;
    default:
      return PassedBy::kKeyword;
  }
}

class GraphTextParser {
 public:
  GraphTextParser(TextScanner& scanner) : scanner_(scanner) {}

  std::unique_ptr<GraphText> parse(size_t depth) {
    if (depth > kMaxGraphDepth) {
      at_place(scanner_.place(),
               [] { throw Error(ErrorCode::kLimit, "graphs are nested more than 100 deep"); });
    }
    auto graph = std::make_unique<GraphText>();
    graph->indent = scanner_.indent();
    graph->place = scanner_.place();
    scanner_.expect("class");
    graph->name = scanner_.name("the name of a graph");
    for (const char* token : {"(", "torch", ".", "nn", ".", "Module", ")", ":"}) scanner_.expect(token);
    scanner_.expect_line_end();
    scanner_.next_line();
    header(*graph);
    while (!scanner_.at_end() && scanner_.indent() > graph->indent) {
      if (scanner_.starts_with("class ")) {
        const TextPlace place = scanner_.place();
        std::unique_ptr<GraphText> inner = GraphTextParser(scanner_).parse(depth + 1);
        std::string name = inner->name;
        if (!graph->classes.emplace(std::move(name), std::move(inner)).second) {
          fail_at(place, "there is a class of that name already");
        }
        continue;
      }
      line(*graph);
      scanner_.next_line();
    }
    if (!graph->has_return) fail_at(graph->place, "the graph has no return");
    return graph;
  }

 private:
  void header(GraphText& graph) {
    for (const char* token : {"def", "forward", "(", "self"}) scanner_.expect(token);
    while (scanner_.accept(",")) {
      InputText& input = graph.inputs.emplace_back();
      input.value.place = scanner_.place();
      input.value.name = scanner_.name("an input");
      if (scanner_.accept(":")) input.value.type = quoted(scanner_, "a type in quotes");
    }
    scanner_.expect(")");
    scanner_.expect(":");
    scanner_.expect_line_end();
    scanner_.next_line();
  }

  void line(GraphText& graph) {
    if (scanner_.starts_with("#|")) return note_line(graph);
    if (scanner_.accept("return")) return return_line(graph);
    if (graph.has_return) scanner_.fail("nothing can follow the return");
    Statement& statement = graph.statements.emplace_back();
    statement.metadata = std::exchange(metadata_, {});
    statement.value.place = scanner_.place();
    statement.value.name = scanner_.name("a name");
    if (scanner_.accept(":")) statement.value.type = quoted(scanner_, "a type in quotes");
    scanner_.expect("=");
    expression(statement);
    // PyTorch's ";  x = None".
    if (scanner_.accept(";")) {
      while (!scanner_.accept("None")) {
        scanner_.name("a name or None");
        scanner_.expect("=");
      }
    }
    if (scanner_.accept("#|")) notes(scanner_, [&] { statement_note(statement); });
    scanner_.expect_line_end();
    if (statement.kind == Statement::Kind::kItem && !statement.is_item) as_operator(statement);
  }

  void expression(Statement& to) {
    const TextPlace place = scanner_.place();
    if (scanner_.accept("self")) {
      scanner_.expect(".");
      to.kind = Statement::Kind::kSubgraph;
      to.target = scanner_.name("a subgraph");
      return;
    }
    for (const char* sign : {"+", "~", "-"}) {
      // A minus may begin a number.
      if (scanner_.peek() != sign[0]) continue;
      TextScanner ahead = scanner_;
      ahead.expect(sign);
      const char next = ahead.peek();
      if (sign[0] == '-' && ((next >= '0' && next <= '9') || ahead.peek_word() == "inf")) {
        // "-3" alone is an operator on 3 only when nothing stands before an operand.
        break;
      }
      scanner_.expect(sign);
      to.target = operator_by_sign(sign, 1)->target;
      operand(to);
      return;
    }
    // A call begins with a dotted name and a parenthesis; everything else is an operand.
    if (!scanner_.peek_word().empty()) {
      TextScanner ahead = scanner_;
      const std::string_view name = ahead.dotted_name("an operator");
      if (name == "operator" && ahead.peek() == '(') {
        scanner_.dotted_name("an operator");
        scanner_.expect("(");
        to.target = scanner_.string("an operator's name in quotes");
        scanner_.expect(")");
        return call(to);
      }
      if (name.find('.') != std::string_view::npos && ahead.peek() == '(') {
        to.target = scanner_.dotted_name("an operator");
        return call(to);
      }
    }
    operand(to);
    if (scanner_.accept("[")) {
      operand(to);
      scanner_.expect("]");
      to.kind = Statement::Kind::kItem;
      return;
    }
    for (const char* sign : {"**", "*", "+", "-", "//", "/", "%", "<<", ">>", "<=", ">=", "<", ">",
                             "==", "!=", "&", "|", "^", "@"}) {
      if (!scanner_.accept(sign)) continue;
      to.target = operator_by_sign(sign, 2)->target;
      operand(to);
      return;
    }
    fail_at(place, "expected a call, an operator or an item");
  }

  void operand(Statement& to) { to.arguments.push_back({std::nullopt, parse_literal(scanner_)}); }

  void call(Statement& to) {
    scanner_.expect("(");
    while (!scanner_.accept(")")) {
      Statement::Passed& passed = to.arguments.emplace_back();
      TextScanner ahead = scanner_;
      if (scanner_.peek() == '%' || !scanner_.peek_word().empty()) {
        std::string name = ahead.name("an argument");
        if (ahead.accept("=")) {
          passed.name = std::move(name);
          scanner_ = ahead;
        }
      }
      passed.literal = parse_literal(scanner_);
      if (scanner_.accept(",")) continue;
      scanner_.expect(")");
      break;
    }
  }

  // Items of a call's result say so; any other "a[b]" is a node of its own.
  static void as_operator(Statement& statement) {
    statement.kind = Statement::Kind::kCall;
    statement.target = "_operator.getitem";
  }

  void statement_note(Statement& to) {
    if (scanner_.peek() == '(') {
      to.has_arguments = true;
      return argument_notes(to);
    }
    if (scanner_.accept("->")) {
      if (scanner_.accept("nothing")) {
        to.form = OutputForm::kNothing;
      } else if (scanner_.accept("none")) {
        to.form = OutputForm::kNone;
      } else if (scanner_.accept("list")) {
        to.form = OutputForm::kList;
      } else if (scanner_.accept("items")) {
        to.form = OutputForm::kMany;
      } else {
        scanner_.fail_expected("nothing, none, list or items");
      }
    } else if (scanner_.accept("as")) {
      to.as = parse_kind(scanner_);
    } else if (scanner_.accept("single")) {
      to.single = true;
    } else if (scanner_.accept("not")) {
      scanner_.expect("single");
      to.single = false;
    } else if (scanner_.accept("no")) {
      scanner_.expect("node");
      scanner_.expect("name");
      to.no_node_name = true;
    } else if (scanner_.accept("node")) {
      to.name = scanner_.name("a node's name");
    } else if (scanner_.accept("name")) {
      to.name = scanner_.string("a graph's name in quotes");
    } else if (scanner_.accept("node_extra")) {
      to.extras = quoted(scanner_, "JSON in quotes");
    } else if (scanner_.accept("item")) {
      if (to.kind != Statement::Kind::kItem) fail_note(scanner_);
      item_note(to);
    } else if (scanner_.accept("list")) {
      to.is_list = true;
    } else if (scanner_.accept("=")) {
      to.constant = parse_literal(scanner_);
      if (scanner_.accept("as")) to.as = parse_kind(scanner_);
    } else if (!value_note(scanner_, to.value)) {
      fail_note(scanner_);
    }
  }

  static void item_note(Statement& to) {
    to.is_item = true;
    const Literal& base = to.arguments[0].literal;
    const Literal& index = to.arguments[1].literal;
    if (base.kind != Literal::Kind::kName) fail_at(base.place, "expected the name of a call's line");
    if (index.kind != Literal::Kind::kInteger || index.integer < 0) {
      fail_at(index.place, "expected the number of an item");
    }
    to.target = base.text;
    to.index = static_cast<size_t>(index.integer);
  }

  void argument_notes(Statement& to) {
    scanner_.expect("(");
    while (!scanner_.accept(")")) {
      ArgumentText& argument = to.argument_notes.emplace_back();
      argument.place = scanner_.place();
      if (!scanner_.accept("_")) argument.name = scanner_.name("an argument's name");
      argument.by_name = scanner_.accept("=");
      for (const char mark : {'~', '?', '+', '!'}) {
        if (scanner_.accept(std::string_view(&mark, 1))) argument.passed_by = passed_by(mark);
      }
      if (scanner_.accept(":")) argument.kind = parse_kind(scanner_);
      if (scanner_.accept("extra")) argument.extras = quoted(scanner_, "JSON in quotes");
      if (scanner_.accept(",")) continue;
      scanner_.expect(")");
      break;
    }
  }

  void note_line(GraphText& graph) {
    scanner_.expect("#|");
    TextScanner ahead = scanner_;
    ahead.name("a note");
    if (ahead.peek() == '=') return metadata_line();
    if (scanner_.accept("input")) return input_line(graph);
    if (scanner_.accept("value")) {
      ValueText& value = graph.values.emplace_back();
      value.place = scanner_.place();
      value.name = scanner_.name("a value");
      scanner_.expect(":");
      notes(scanner_, [&] {
        if (!value_note(scanner_, value)) fail_note(scanner_);
      });
      return;
    }
    if (scanner_.accept("order")) return order_line(graph);
    scanner_.fail_expected("metadata, 'input', 'value' or 'order'");
  }

  void metadata_line() {
    notes(scanner_, [&] {
      MetadataText& entry = metadata_.emplace_back();
      entry.place = scanner_.place();
      entry.key = scanner_.name("a key");
      scanner_.expect("=");
      if (scanner_.accept("@")) {
        entry.number = static_cast<uint64_t>(scanner_.integer("the number of a text"));
      } else {
        entry.text = scanner_.string("a text in quotes");
      }
    });
  }

  void input_line(GraphText& graph) {
    const TextPlace place = scanner_.place();
    const std::string name = scanner_.name("an input");
    // In their order, so that none is looked for.
    while (next_input_ < graph.inputs.size() && graph.inputs[next_input_].value.name != name) ++next_input_;
    if (next_input_ == graph.inputs.size()) {
      fail_at(place, fmt::format("there is no input '{}' here", printable(name)),
              "describe the inputs in their order");
    }
    InputText& input = graph.inputs[next_input_++];
    scanner_.expect(":");
    notes(scanner_, [&] {
      if (scanner_.accept("=")) {
        input.constant = parse_literal(scanner_);
        if (scanner_.accept("as")) input.as = parse_kind(scanner_);
      } else if (scanner_.accept("as")) {
        input.as = parse_kind(scanner_);
      } else if (!value_note(scanner_, input.value)) {
        fail_note(scanner_);
      }
    });
  }

  void order_line(GraphText& graph) {
    OrderText& order = graph.orders.emplace_back();
    order.place = scanner_.place();
    const std::string_view word = scanner_.word("a kind of value");
    bool is_known = false;
    for (size_t kind = 1; kind < kValueKinds; ++kind) {
      if (kind_word(kind_for_value(static_cast<ValueKind>(kind))) != word) continue;
      order.kind = static_cast<ValueKind>(kind);
      is_known = true;
    }
    if (!is_known) fail_at(order.place, fmt::format("'{}' is no kind of value", printable(word)));
    scanner_.expect(":");
    while (!scanner_.at_line_end()) order.names.push_back(scanner_.name("a value"));
  }

  void return_line(GraphText& graph) {
    if (graph.has_return) scanner_.fail("a second return");
    graph.has_return = true;
    if (scanner_.peek() == '(') {
      Literal outputs = parse_literal(scanner_);
      if (outputs.kind == Literal::Kind::kTuple) {
        graph.outputs = std::move(outputs.items);
      } else {
        graph.outputs.push_back(std::move(outputs));
        graph.is_single = true;
      }
    } else {
      graph.outputs.push_back(parse_literal(scanner_));
      graph.is_single = true;
    }
    if (!scanner_.accept("#|")) return scanner_.expect_line_end();
    notes(scanner_, [&] {
      if (scanner_.accept("as")) {
        const TextPlace place = scanner_.place();
        graph.output_kinds = parse_kinds(scanner_);
        if (graph.output_kinds.size() != graph.outputs.size()) {
          fail_at(place, fmt::format("there are {} outputs, the comment has {} kinds", graph.outputs.size(),
                                     graph.output_kinds.size()));
        }
      } else if (scanner_.accept("single")) {
        graph.is_single = true;
      } else if (scanner_.accept("extra")) {
        graph.extras = quoted(scanner_, "JSON in quotes");
      } else {
        fail_note(scanner_);
      }
    });
  }

  TextScanner& scanner_;
  std::vector<MetadataText> metadata_;
  size_t next_input_ = 0;
};

}  // namespace

std::unique_ptr<GraphText> parse_graph_text(TextScanner& scanner) {
  return GraphTextParser(scanner).parse(0);
}

}  // namespace flambeau::graph
