#include "flambeau/graph/text/build.h"

#include <fmt/format.h>

#include <charconv>

#include "flambeau/graph/text/expr.h"
#include "flambeau/graph/text/notes.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;

// At the commas that stand in no parentheses.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  size_t start = 0;
  size_t depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth > 0) --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    std::string_view part = text.substr(start, i - start);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    start = i + 1;
  }
  return parts;
}

class GraphBuilder {
 public:
  GraphBuilder(GraphText& text, TextTables& tables, Graph& to)
      : text_(text),
        tables_(tables),
        graph_(to),
        maker_{to, [this](const Literal& name) { return subgraph(name); }} {}

  void build() {
    for (Statement& statement : text_.statements) {
      if (statement.kind == Statement::Kind::kSubgraph) {
        const bool is_new = aliases_.emplace(statement.value.name, &statement).second;
        if (!is_new) fail_at(statement.value.place, "there is a subgraph of that name already");
      }
    }
    values();
    for (const InputText& input : text_.inputs) graph_.add_input(input_argument(input));
    for (Statement& statement : text_.statements) {
      if (statement.kind == Statement::Kind::kCall) call(statement);
      if (statement.kind == Statement::Kind::kItem) item(statement);
    }
    finish_node();
    for (size_t i = 0; i < text_.outputs.size(); ++i) {
      graph_.add_output(
          maker_.make(text_.outputs[i], text_.output_kinds.empty() ? KindSpec() : text_.output_kinds[i]));
    }
    graph_.is_single_tensor_return = text_.is_single;
    if (text_.extras) graph_.extras = parse_extras(text_.extras->text, text_.extras->place);
  }

 private:
  // ---- values, before everything that refers to them
  void values() {
    for (const InputText& input : text_.inputs) describe(input.value);
    for (const Statement& statement : text_.statements) {
      if (statement.kind != Statement::Kind::kSubgraph) describe(statement.value);
    }
    for (const ValueText& value : text_.values) describe(value);
    std::unordered_map<std::string_view, Meta*> by_name;
    for (auto& [name, meta] : described_) {
      if (!by_name.emplace(name->name, &meta).second) {
        fail_at(name->place, fmt::format("'{}' is described twice", printable(name->name)));
      }
    }
    // The tables that have an order of their own come first; what they leave out comes behind.
    for (const OrderText& order : text_.orders) {
      for (const std::string& name : order.names) {
        const auto found = by_name.find(name);
        if (found == by_name.end() || kind_of(*found->second) != order.kind) {
          fail_at(order.place, fmt::format("'{}' is no {} of this graph, or is named twice", printable(name),
                                           value_kind_name(order.kind)));
        }
        graph_.set_meta(graph_.value(name), std::move(*found->second));
        by_name.erase(found);
      }
    }
    for (auto& [name, meta] : described_) {
      if (by_name.contains(name->name)) graph_.set_meta(graph_.value(name->name), std::move(meta));
    }
  }

  void describe(const ValueText& value) {
    if (value.is_described()) described_.emplace_back(&value, tables_.meta(value));
  }

  Argument input_argument(const InputText& input) {
    if (input.constant) return maker_.make(*input.constant, input.as);
    return value_argument(input.value, input.as);
  }

  Argument value_argument(const ValueText& value, const KindSpec& as) {
    Literal name;
    name.kind = Literal::Kind::kName;
    name.text = value.name;
    name.place = value.place;
    return ArgumentMaker{graph_, {}}.make(name, as);
  }

  // ---- nodes
  std::optional<GraphArgument> subgraph(const Literal& name) {
    const auto found = aliases_.find(name.text);
    if (found == aliases_.end()) return std::nullopt;
    Statement& alias = *found->second;
    const auto inner = text_.classes.find(alias.target);
    if (inner == text_.classes.end()) {
      fail_at(alias.value.place, fmt::format("there is no class '{}'", printable(alias.target)));
    }
    if (inner->second == nullptr) {
      fail_at(name.place, fmt::format("the graph '{}' is used a second time", printable(alias.target)),
              "give each use a class of its own");
    }
    GraphArgument made;
    made.name = alias.name.value_or(alias.value.name);
    made.graph = std::make_unique<Graph>();
    const std::unique_ptr<GraphText> text = std::move(inner->second);
    with_location("subgraph", printable(made.name), [&] { build_graph(*text, tables_, *made.graph); });
    if (alias.value.details && alias.value.details->extras) {
      made.extras = parse_extras(alias.value.details->extras->text, alias.value.details->extras->place);
    }
    return made;
  }

  // Outputs are added when all items are there.
  struct Output {
    std::optional<Argument> argument;
    std::vector<ValueRef> list;
  };
  struct Place {
    size_t output;
    bool is_list;
  };

  void finish_node() {
    if (node_ == nullptr) return;
    for (Output& output : outputs_) {
      node_->add_output(output.argument ? std::move(*output.argument)
                                        : Argument::make<K::kTensors>(std::move(output.list)));
    }
    outputs_.clear();
    places_.clear();
    node_ = nullptr;
  }

  void call(Statement& statement) {
    finish_node();
    Node& node = graph_.append(std::move(statement.target));
    node_ = &node;
    for (const MetadataText& entry : statement.metadata) {
      node.metadata.emplace_back(entry.key, tables_.metadata(entry));
    }
    node.is_hop_single_tensor_return = statement.single;
    if (statement.extras) node.extras = parse_extras(statement.extras->text, statement.extras->place);
    if (statement.name) {
      node.name = std::move(statement.name);
    } else if (tables_.style.has_node_name && !statement.no_node_name) {
      node.name = statement.value.name;
    }
    arguments(statement, node);
    switch (statement.form) {
      case OutputForm::kOne:
        outputs_.push_back({value_argument(statement.value, statement.as), {}});
        break;
      case OutputForm::kNothing:
        break;
      case OutputForm::kNone:
        outputs_.push_back({Argument(), {}});
        break;
      case OutputForm::kList:
        outputs_.emplace_back();
        places_[statement.value.name] = {0, true};
        break;
      case OutputForm::kMany:
        places_[statement.value.name] = {0, false};
        break;
    }
  }

  void item(const Statement& statement) {
    const auto found = places_.find(statement.target);
    if (found == places_.end()) {
      fail_at(statement.value.place,
              fmt::format("'{}' is not what the call before gives items of", printable(statement.target)));
    }
    const size_t expected =
        found->second.is_list ? outputs_[found->second.output].list.size() : outputs_.size();
    if (statement.index != expected) {
      fail_at(statement.value.place, fmt::format("expected item {} of '{}', found item {}", expected,
                                                 printable(statement.target), statement.index));
    }
    if (found->second.is_list) {
      if (statement.is_list || statement.constant || statement.as.kind) {
        fail_at(statement.value.place, "an item of a list is a tensor");
      }
      outputs_[found->second.output].list.emplace_back(graph_.value(statement.value.name));
      return;
    }
    if (statement.is_list) {
      places_[statement.value.name] = {outputs_.size(), true};
      outputs_.emplace_back();
    } else if (statement.constant) {
      outputs_.push_back({ArgumentMaker{graph_, {}}.make(*statement.constant, statement.as), {}});
    } else {
      outputs_.push_back({value_argument(statement.value, statement.as), {}});
    }
  }

  // The comment has the arguments in the order of the file, the call has those by name last.
  void arguments(Statement& statement, Node& node) {
    const auto add = [&](std::string name, const Literal& literal, const KindSpec& kind,
                         PassedBy by) -> NamedArgument {
      return {std::move(name), maker_.make(literal, kind), by, {}};
    };
    const PassedBy positional = tables_.style.has_argument_kind ? PassedBy::kPositional : PassedBy::kUnsaid;
    if (!statement.has_arguments) {
      // Written by hand: the operator's schema has the names.
      const OperatorEntry* const entry = tables_.schemas.find_python(node.target.text());
      size_t index = 0;
      for (Statement::Passed& passed : statement.arguments) {
        if (entry != nullptr && !passed.name && index < entry->schema.arguments.size()) {
          node.add_input(add(entry->schema.arguments[index++].name, passed.literal, {}, positional));
          continue;
        }
        node.add_input(
            add(passed.name.value_or(""), passed.literal, {}, passed.name ? PassedBy::kKeyword : positional));
      }
      return;
    }
    size_t position = 0;
    size_t keyword = 0;
    const auto next = [&](size_t& at, bool by_name) -> const Statement::Passed* {
      while (at < statement.arguments.size() && statement.arguments[at].name.has_value() != by_name) ++at;
      return at < statement.arguments.size() ? &statement.arguments[at++] : nullptr;
    };
    size_t count = 0;
    for (const ArgumentText& note : statement.argument_notes) {
      const Statement::Passed* const passed = next(note.by_name ? keyword : position, note.by_name);
      if (passed == nullptr) {
        fail_at(note.place, fmt::format("the call has no argument for '{}'", printable(note.name)),
                "let the call and its comment have the same arguments");
      }
      if (note.by_name && *passed->name != note.name) {
        fail_at(note.place, fmt::format("expected '{}' here, as in the call, found '{}'",
                                        printable(*passed->name), printable(note.name)));
      }
      NamedArgument made = add(note.name, passed->literal, note.kind,
                               note.passed_by.value_or(note.by_name ? PassedBy::kKeyword : positional));
      if (note.extras) made.extras = parse_extras(note.extras->text, note.extras->place);
      node.add_input(std::move(made));
      ++count;
    }
    if (count != statement.arguments.size()) {
      fail_at(
          statement.value.place,
          fmt::format("the call has {} arguments, its comment names {}", statement.arguments.size(), count),
          "let the call and its comment have the same arguments");
    }
  }

  GraphText& text_;
  TextTables& tables_;
  Graph& graph_;
  ArgumentMaker maker_;
  std::unordered_map<std::string, Statement*> aliases_;
  std::vector<std::pair<const ValueText*, Meta>> described_;
  Node* node_ = nullptr;
  std::vector<Output> outputs_;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace

std::shared_ptr<const SymExpr> TextTables::expr(const std::string& name, TextPlace place) {
  std::shared_ptr<const SymExpr>& found = exprs[name];
  if (found != nullptr) return found;
  SymExpr made;
  at_place(place, [&] {
    try {
      made.text = file_expression(name, [&](std::string_view symbol) -> std::optional<std::string> {
        const auto known = exprs.find(std::string(symbol));
        if (known == exprs.end() || known->second == nullptr) return std::nullopt;
        return known->second->text;
      });
    } catch (const Error& error) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("'{}' is no expression of this program: {}", printable(name), error.message()));
    }
  });
  return found = std::make_shared<const SymExpr>(std::move(made));
}

SymInt TextTables::sym_int(const std::string& text, TextPlace place) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc() && end == text.data() + text.size()) return value;
  return SymInt(expr(text, place));
}

std::vector<SymInt> TextTables::sym_ints(std::string_view list, TextPlace place) {
  if (!list.starts_with('[') || !list.ends_with(']')) {
    fail_at(place, fmt::format("expected [...], found '{}'", printable(list, 40)));
  }
  std::vector<SymInt> numbers;
  for (const std::string& part : split_list(list.substr(1, list.size() - 2))) {
    numbers.push_back(sym_int(part, place));
  }
  return numbers;
}

TensorMeta TextTables::tensor(const TextString& type, const ValueText& text) {
  TensorMeta meta;
  const size_t open = type.text.find('[');
  const std::optional<DType> dtype = dtype_from_short_name(std::string_view(type.text).substr(0, open));
  if (!dtype || open == std::string::npos) {
    fail_at(type.place, fmt::format("'{}' is no type", printable(type.text, 40)),
            "write f32[2, s0] for a tensor and Sym(s0) for a number");
  }
  meta.dtype = *dtype;
  meta.sizes = sym_ints(std::string_view(type.text).substr(open), type.place);
  const ValueText::Details* const more = text.details.get();
  if (more == nullptr || !more->strides) {
    const std::vector<int64_t> usual = usual_strides(meta.sizes);
    if (usual.size() != meta.sizes.size()) {
      fail_at(type.place, "the strides of this tensor are not clear", "add strides '[...]' to the comment");
    }
    meta.strides.assign(usual.begin(), usual.end());
  }
  if (more == nullptr) return meta;
  meta.requires_grad = more->grad;
  if (more->strides) meta.strides = sym_ints(more->strides->text, more->strides->place);
  if (more->offset) meta.storage_offset = sym_int(more->offset->text, more->offset->place);
  if (more->device) {
    if (more->device->kind != Literal::Kind::kDevice) fail_at(more->device->place, "expected a device");
    meta.device.type = more->device->text;
    if (more->device->flag) meta.device.index = more->device->integer;
  }
  if (more->device_extras) {
    meta.device.extras = parse_extras(more->device_extras->text, more->device_extras->place);
  }
  if (more->layout) meta.layout = *more->layout;
  if (more->extras) meta.extras = parse_extras(more->extras->text, more->extras->place);
  return meta;
}

Meta TextTables::meta(const ValueText& text) {
  const ValueText::Details* const more = text.details.get();
  if (more != nullptr && more->object_name) {
    CustomObjMeta object;
    object.name = *more->object_name;
    object.class_fqn = more->object_class;
    if (more->extras) object.extras = parse_extras(more->extras->text, more->extras->place);
    return object;
  }
  const std::string_view type = text.type ? std::string_view(text.type->text) : std::string_view();
  const bool is_symbolic = type.starts_with("Sym(") && type.ends_with(')');
  if (!is_symbolic && (more == nullptr || !more->sym)) {
    if (!text.type) fail_at(text.place, "the value is described, but has no type");
    return tensor(*text.type, text);
  }
  const K kind = more != nullptr && more->sym ? *more->sym : K::kSymInt;
  if (is_symbolic) {
    std::shared_ptr<const SymExpr> found =
        expr(std::string(type.substr(4, type.size() - 5)), text.type->place);
    if (kind == K::kSymInt) return SymInt(std::move(found));
    if (kind == K::kSymFloat) return SymFloat(std::move(found));
    return SymBool(std::move(found));
  }
  if (!more->number) fail_at(text.place, "expected Sym(...) or a number");
  const Literal& number = *more->number;
  const bool is_integer = number.kind == Literal::Kind::kInteger;
  if (kind == K::kSymInt && is_integer) return SymInt(number.integer);
  if (kind == K::kSymFloat && (is_integer || number.kind == Literal::Kind::kReal)) {
    return SymFloat(number.number.real());
  }
  if (kind == K::kSymBool && number.kind == Literal::Kind::kBool) return SymBool(number.flag);
  fail_at(number.place, "the constant is not of this kind");
}

const std::string& TextTables::metadata(const MetadataText& text) const {
  if (!text.number) return text.text;
  const auto found = texts.find(*text.number);
  if (found == texts.end()) fail_at(text.place, fmt::format("there is no text @{}", *text.number));
  return found->second;
}

void build_graph(GraphText& text, TextTables& tables, Graph& to) { GraphBuilder(text, tables, to).build(); }

}  // namespace flambeau::graph
