#include "flambeau/graph/text/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/names.h"
#include "flambeau/graph/text/notes.h"
#include "flambeau/graph/text/operators.h"
#include "flambeau/graph/text/python.h"
#include "flambeau/graph/text/source.h"

namespace flambeau::graph {
namespace {

class GraphPrinter {
 public:
  GraphPrinter(TextContext& context, const Graph& graph, size_t depth)
      : context_(context),
        graph_(graph),
        depth_(depth),
        lossless_(context.options.lossless),
        lines_(graph, &context.program.signature, !lossless_),
        printed_(lines_.lines().size()) {
    names_.lossless = lossless_;
    names_.value = [this](const Value& value) {
      const uint32_t line = lines_.line_of(value);
      return lossless_ ? name_token(value.name()) : line == TextLine::kNoLine ? value.name() : printed(line);
    };
    names_.graph = [this](const GraphArgument& inner) -> std::string {
      const uint32_t line = lines_.line_of(inner);
      if (line != TextLine::kNoLine) return printed(line);
      if (!lossless_) return inner.name;
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the graph '{}' is no argument of a node: the text form has no place for it",
                              printable(inner.name)));
    };
    if (!lossless_) find_last_uses();
  }

  void print(std::string_view class_name) {
    start(1);
    context_.out += fmt::format("class {}(torch.nn.Module):\n",
                                lossless_ ? name_token(class_name) : std::string(class_name));
    header();
    for (uint32_t i = 0; i < lines_.lines().size(); ++i) body_line(i);
    return_line();
    if (lossless_) value_tables();
    context_.out += "    \n";
    subgraph_classes();
  }

 private:
  // The start of a line: four spaces for the program, and four for each level.
  void start(size_t level) { context_.out.append(4 * (depth_ + level), ' '); }
  void line(std::string_view text) {
    start(3);
    context_.out += text;
    context_.out += '\n';
  }

  const std::string& printed(uint32_t line) {
    std::string& name = printed_[line];
    if (name.empty()) name = lossless_ ? name_token(lines_[line].name) : namespace_.create(lines_[line].name);
    return name;
  }

  std::string annotation(const TextLine& line) {
    if (line.value == nullptr || is_described_already(*line.value)) return "";
    std::string type = type_text(context_, *line.value);
    if (type.empty()) return "";
    if (lossless_ && type.find_first_of("\"\\\n\r\t") != std::string::npos) {
      return ": " + python_repr(std::string_view(type));
    }
    return ": \"" + type + '"';
  }

  // A graph that gives one value twice is broken, and yet printed: the first line describes the value.
  bool is_described_already(const Value& value) { return lossless_ && described_.contains(&value); }

  void header() {
    start(2);
    std::string& out = context_.out;
    out += "def forward(self";
    for (uint32_t i = 0; i < lines_.input_count(); ++i) {
      const TextLine& input = lines_[i];
      out += ", ";
      if (lossless_) {
        out += printed(i);
      } else {
        out += input.value != nullptr ? input.value->name() : input.input_name;
      }
      out += annotation(input);
      if (lossless_ && input.value != nullptr)
        input_notes_.push_back(notes_of_input(input));
      else if (lossless_)
        input_notes_.push_back(notes_of_constant(input));
    }
    out += "):\n";
    for (uint32_t i = 0; i < input_notes_.size(); ++i) {
      if (!input_notes_[i].empty()) line("#| input " + printed(i) + ": " + input_notes_[i].joined());
    }
  }

  Notes notes_of_input(const TextLine& input) {
    Notes notes;
    if (described_.insert(input.value).second) add_value_notes(context_, *input.value, notes);
    const std::string kind = kind_note(*input.argument);
    if (!kind.empty()) notes.add("as " + kind);
    return notes;
  }

  Notes notes_of_constant(const TextLine& input) {
    Notes notes;
    notes.add(constant_note(*input.argument));
    return notes;
  }

  // "= 3", "= [a, b] as sym_ints".
  std::string constant_note(const Argument& argument) {
    std::string note = "= ";
    append_atom(note, argument, names_);
    const std::string kind = kind_note(argument);
    return kind.empty() ? note : note + " as " + kind;
  }

  void body_line(uint32_t index) {
    const TextLine& item = lines_[index];
    if (item.kind == TextLine::Kind::kInput) {
      // Python's own names are not overwritten: the input comes under one name and goes on under another.
      const std::string& called = item.value != nullptr ? item.value->name() : item.input_name;
      if (!lossless_ && printed(index) != called) {
        line(printed(index) + " = " + called);
        has_body_ = true;
      }
      return;
    }
    summary(*item.node);
    if (lossless_ && item.kind == TextLine::Kind::kCall) {
      const std::string metadata = metadata_note(context_, *item.node);
      if (!metadata.empty()) line("#| " + metadata);
    }
    start(3);
    std::string& out = context_.out;
    out += printed(index);
    out += annotation(item);
    out += " = ";
    switch (item.kind) {
      case TextLine::Kind::kSubgraph:
        subgraph(index);
        break;
      case TextLine::Kind::kCall:
        call(*item.node);
        break;
      default:
        out += fmt::format("{}[{}]", printed(item.base), item.index);
    }
    if (!lossless_) forget(index);
    if (lossless_) context_.out += line_notes(index).text();
    out += '\n';
    has_body_ = true;
  }

  // "# File: ..." before the first line of every place in the model's source.
  void summary(const Node& node) {
    std::string text = source_summary(node);
    if (text == last_summary_) return;
    if (has_body_) context_.out += "    \n";
    has_body_ = true;
    line(text);
    last_summary_ = std::move(text);
  }

  void subgraph(uint32_t index) {
    const GraphArgument& inner = lines_[index].argument->get<ArgumentKind::kGraph>();
    std::string& out = context_.out;
    if (lossless_) {
      out += "self." + printed(index);
      return;
    }
    std::string path = "self";
    std::string_view rest = inner.name;
    while (true) {
      const size_t dot = rest.find('.');
      const std::string_view part = rest.substr(0, dot);
      path = is_identifier(part) ? fmt::format("{}.{}", path, part)
                                 : fmt::format("getattr({}, \"{}\")", path, part);
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    out += path;
  }

  std::string target_text(const std::string& target) {
    if (lossless_) {
      return is_dotted_name(target) ? target : "operator(" + python_repr(std::string_view(target)) + ")";
    }
    if (target.starts_with("torch.")) return target;
    std::string& name = globals_[target];
    if (name.empty()) name = namespace_.create(target);
    return name;
  }

  const TextOperator* operator_for(const Node& node) const {
    const TextOperator* const shape = operator_of(node.target.text(), node.inputs().size());
    if (!lossless_ || shape == nullptr) return shape;
    // Where it can be read back: "-3" would be a number.
    for (const NamedArgument& input : node.inputs()) {
      const bool is_number = input.argument.is(ArgumentKind::kInt) || input.argument.is(ArgumentKind::kFloat);
      if (input.argument.value() == nullptr && (!is_number || shape->operands == 1)) return nullptr;
    }
    return shape;
  }

  void call(const Node& node) {
    std::string& out = context_.out;
    const std::vector<NamedArgument>& inputs = node.inputs();
    if (const TextOperator* const shape = operator_for(node)) {
      const auto atom = [&](size_t i) {
        if (i < inputs.size()) append_atom(out, inputs[i].argument, names_);
      };
      out += shape->before;
      atom(0);
      out += shape->between;
      atom(1);
      out += shape->after;
      return;
    }
    out += target_text(node.target.text()) + "(";
    bool is_first = true;
    for (const bool by_name : {false, true}) {
      for (const NamedArgument& input : inputs) {
        if (is_passed_by_name(context_, node, input) != by_name) continue;
        if (!is_first) out += ", ";
        is_first = false;
        if (by_name) out += (lossless_ ? name_token(input.name) : input.name) + " = ";
        append_atom(out, input.argument, names_);
      }
    }
    out += ')';
  }

  void find_last_uses() {
    last_uses_.resize(lines_.lines().size());
    std::vector<bool> seen(lines_.lines().size());
    // Those that the outputs use are never forgotten.
    for (const Argument& output : graph_.outputs()) {
      output.for_each_value([&](const Value& value) {
        if (const uint32_t used = lines_.line_of(value); used != TextLine::kNoLine) seen[used] = true;
      });
    }
    for (uint32_t i = static_cast<uint32_t>(lines_.lines().size()); i-- > 0;) {
      for (const uint32_t used : lines_[i].uses) {
        if (seen[used]) continue;
        seen[used] = true;
        last_uses_[i].push_back(used);
      }
    }
  }

  // ";  x = y = None": what is not used any more.
  void forget(uint32_t index) {
    std::vector<uint32_t>& names = last_uses_[index];
    if (!lines_[index].is_used) names.push_back(index);
    if (names.empty()) return;
    context_.out += ";  ";
    for (const uint32_t name : names) context_.out += printed(name) + " = ";
    context_.out += "None";
  }

  Notes line_notes(uint32_t index) {
    const TextLine& item = lines_[index];
    Notes notes;
    if (item.kind == TextLine::Kind::kSubgraph) {
      const GraphArgument& inner = item.argument->get<ArgumentKind::kGraph>();
      if (inner.name != item.name) notes.add("name " + python_repr(std::string_view(inner.name)));
      notes.add(extras_note("extra", inner.extras));
      return notes;
    }
    if (item.kind == TextLine::Kind::kCall) {
      add_call_notes(context_, *item.node, item.name, notes);
    } else {
      notes.add("item");
      if (item.argument != nullptr && item.value != nullptr) {
        const std::string kind = kind_note(*item.argument);
        if (!kind.empty()) notes.add("as " + kind);
      } else if (item.argument != nullptr) {
        notes.add(value_list(*item.argument) != nullptr ? "list" : constant_note(*item.argument));
      }
    }
    if (item.value != nullptr && described_.insert(item.value).second) {
      add_value_notes(context_, *item.value, notes);
    }
    return notes;
  }

  void return_line() {
    std::string text = "return ";
    const std::vector<Argument>& outputs = graph_.outputs();
    const bool is_single = graph_.is_single_tensor_return && outputs.size() == 1;
    if (!is_single) text += '(';
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i > 0) text += ", ";
      append_atom(text, outputs[i], names_);
    }
    if (!is_single) text += outputs.size() == 1 ? ",)" : ")";
    if (lossless_) {
      Notes notes;
      notes.add(kinds_note(outputs));
      if (graph_.is_single_tensor_return && !is_single) notes.add("single");
      notes.add(extras_note("extra", graph_.extras));
      text += notes.text();
    }
    line(text);
  }

  // Values that no line gives, and the order of the tables where it is another than that of the lines.
  void value_tables() {
    for (size_t kind = 1; kind < kValueKinds; ++kind) {
      for (const Value* value : graph_.values_of(static_cast<ValueKind>(kind))) {
        if (!described_.insert(value).second) continue;
        Notes notes;
        const std::string type = type_text(context_, *value);
        if (!type.empty()) notes.add(python_repr(std::string_view(type)));
        add_value_notes(context_, *value, notes);
        line("#| value " + name_token(value->name()) + ": " + notes.joined());
        extra_values_.push_back(value);
      }
    }
    std::vector<const Value*> order[kValueKinds];
    std::unordered_set<const Value*> seen;
    const auto note = [&](const Value& value) {
      if (seen.insert(&value).second) order[static_cast<size_t>(value.kind())].push_back(&value);
    };
    for (const TextLine& item : lines_.lines()) {
      if (item.value != nullptr) note(*item.value);
    }
    for (const Value* value : extra_values_) note(*value);
    for (size_t kind = 1; kind < kValueKinds; ++kind) {
      const std::vector<Value*> table = graph_.values_of(static_cast<ValueKind>(kind));
      if (std::equal(table.begin(), table.end(), order[kind].begin(), order[kind].end())) continue;
      std::string text = fmt::format("#| order {}:", kind_word(kind_for_value(static_cast<ValueKind>(kind))));
      for (const Value* value : table) text += " " + name_token(value->name());
      line(text);
    }
  }

  void subgraph_classes() {
    // PyTorch keeps the last graph of a name, where the first one stood.
    std::vector<std::pair<std::string_view, const Graph*>> classes;
    std::unordered_map<std::string_view, size_t> by_name;
    for (const TextLine& item : lines_.lines()) {
      if (item.kind != TextLine::Kind::kSubgraph) continue;
      const GraphArgument& inner = item.argument->get<ArgumentKind::kGraph>();
      const std::string_view name = lossless_ ? item.name : inner.name;
      const auto [at, is_new] = by_name.emplace(name, classes.size());
      if (is_new) {
        classes.emplace_back(name, inner.graph.get());
      } else {
        classes[at->second].second = inner.graph.get();
      }
    }
    for (const auto& [name, graph] : classes) print_graph(context_, *graph, name, depth_ + 1);
  }

  TextContext& context_;
  const Graph& graph_;
  size_t depth_;
  bool lossless_;
  TextLines lines_;
  std::vector<std::string> printed_;
  TextNamespace namespace_;
  std::unordered_map<std::string, std::string> globals_;
  AtomNames names_;
  std::vector<std::vector<uint32_t>> last_uses_;
  std::vector<Notes> input_notes_;
  std::unordered_set<const Value*> described_;
  std::vector<const Value*> extra_values_;
  std::string last_summary_;
  bool has_body_ = false;
};

std::string content_key(const SymExpr& expr) {
  std::string key = expr.text + '\n';
  if (const auto* const integer = std::get_if<int64_t>(&expr.hint)) key += std::to_string(*integer);
  if (const auto* const flag = std::get_if<bool>(&expr.hint)) key += *flag ? "true" : "false";
  if (const auto* const real = std::get_if<double>(&expr.hint)) key += "float " + python_repr(*real);
  if (!expr.extras.empty()) key += '\n' + json::dump(json::Value(expr.extras.members()));
  return key;
}

// Whether it can stand among sizes: no number, and no comma but in parentheses.
bool can_be_name(std::string_view text) {
  if (text.find_first_not_of("-0123456789") == std::string_view::npos) return false;
  size_t depth = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '`' || c == '"' || c == '\\') return false;
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth-- == 0) return false;
    if (c == ',' && depth == 0) return false;
  }
  return depth == 0 && text.front() != ' ' && text.back() != ' ';
}

}  // namespace

const std::string& ExprNames::name(const SymExpr& expr) {
  std::string& name = by_address_[&expr];
  if (!name.empty()) return name;
  if (!lossless_) {
    name = expr.plain();
    entries_.push_back({name, &expr});
    return name;
  }
  std::string& known = by_content_[content_key(expr)];
  if (known.empty()) {
    const std::string plain = expr.plain();
    size_t& count = used_[plain];
    if (!can_be_name(plain)) {
      known = fmt::format("expr`{}", ++odd_count_);
    } else {
      known = count == 0 ? plain : fmt::format("{}`{}", plain, count + 1);
      ++count;
    }
    entries_.push_back({known, &expr});
  }
  name = known;
  return name;
}

std::string LongTexts::reference(const std::string& text) {
  if (text.size() <= 40) return python_repr(std::string_view(text));
  const auto [found, is_new] = numbers_.emplace(text, texts_.size() + 1);
  if (is_new) texts_.push_back(&text);
  return fmt::format("@{}", found->second);
}

void print_graph(TextContext& context, const Graph& graph, std::string_view class_name, size_t depth) {
  GraphPrinter(context, graph, depth).print(class_name);
}

}  // namespace flambeau::graph
